import CoreDataModel
import StoreEngine

extension PredicateSQL {
    /// `FETCH(request, context, countOnly)` as one value: `(SELECT COUNT(*) FROM ZBOOK t0)`, or the first result.
    func operand(fetching request: ExpressionTree, countOnly: Bool, in scope: SQLScope) throws -> SQLOperand {
        let request = try fetchRequest(request, in: scope)
        if countOnly {
            let text = try statement(request, result: .count).fragment
            return SQLOperand(fragment: .select(text), storage: .integer, canBeNull: false)
        }
        let found = try statement(request, result: .values, limit: 1)
        return SQLOperand(fragment: .select(found.fragment), storage: found.storage, root: found.root)
    }

    /// `element IN FETCH(request, context, NO)`: `t0.Z_PK IN (SELECT t0.ZBOOK FROM ZREVIEW t0)`.
    func membership(
        _ element: ExpressionTree, ofFetch request: ExpressionTree, in scope: SQLScope
    ) throws -> SQLCondition {
        let found = try statement(fetchRequest(request, in: scope), result: .values)
        let left = try operand(element, in: scope)
        if left.isNeverEqual(to: found) { return .never }
        return SQLCondition(left.fragment + " IN " + .select(found.fragment))
    }

    private func fetchRequest(_ tree: ExpressionTree, in scope: SQLScope) throws -> any FetchDescription {
        guard case .object(let reference)? = constant(tree), let request = reference.object as? any FetchDescription
        else { throw SQLError.unsupported("FETCH of \(tree.sqlDescription), which is no fetch request") }
        // The request is an object that may change, so the text is generated anew each time.
        scope.names.isReusable = false
        return request
    }

    private func statement(
        _ request: any FetchDescription, result: FetchResult, limit: Int? = nil
    ) throws -> SQLOperand {
        guard let name = request.entityName, let entity = schema.layout.entityByName[name] else {
            throw SQLError.unsupported(
                "FETCH of “\(request.entityName ?? "")”, which is no entity of the model")
        }
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = request.includesSubentities
        plan.limit = limit ?? request.fetchLimit
        plan.offset = request.fetchOffset
        plan.isDistinct = request.returnsDistinctResults
        plan.columns = [try column(of: request)]
        let fetch = try FetchSQL(schema: schema).statement(
            plan, result: result, predicate: try request.predicate.map { try predicateTree(of: $0.read(for: entity)) },
            sortTerms: try sortTerms(of: request.sortDescriptors ?? []))
        let column = fetch.columns.first
        // The limit and offset are its own, not those of the outer request.
        return SQLOperand(
            fragment: try fetch.sql.bound(limit: plan.limit, offset: plan.offset), storage: column?.storage,
            root: column?.destination?.root)
    }

    /// The one column of the subquery: the property to fetch, or the objects' keys.
    private func column(of request: any FetchDescription) throws -> FetchColumn {
        let wanted = request.resultType == .dictionaryResultType ? request.propertiesToFetch ?? [] : []
        guard let first = wanted.first else {
            return .expression(
                name: "self", NSExpression.expressionForEvaluatedObject(), .objectIDAttributeType)
        }
        guard wanted.count == 1 else {
            throw SQLError.unsupported("FETCH of \(wanted.count) properties, where it takes one")
        }
        switch first {
        case let description as NSExpressionDescription:
            guard let expression = description.expression else {
                throw SQLError.unsupported("the expression description “\(description.name)”, which has no expression")
            }
            return .expression(name: description.name, expression, description.expressionResultType)
        case let description as NSPropertyDescription: return .keyPath(description.name)
        case let name as String: return .keyPath(name)
        default: throw SQLError.unsupported("FETCH of a \(type(of: first)), which is no property")
        }
    }
}
