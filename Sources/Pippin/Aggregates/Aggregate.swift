import CoreData

/// What the store computes of models without handing them out.
struct Aggregate: Sendable {
    /// A function of the predicate language.
    enum Function: String {
        case count = "count:"
        case sum = "sum:"
        case minimum = "min:"
        case maximum = "max:"
        case average = "average:"
    }

    let plan: EntityPlan
    let registry: ModelRegistry
    let path: String
    let kind: AttributeKind

    /// - Throws: ``PersistenceError/Code/unknownProperty`` for what is no plain attribute.
    init(_ property: PropertyName, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        self.plan = plan
        self.registry = registry
        path = try registry.storedPath(property, of: plan, toIdentifier: true)
        guard let kind = try registry.attributeKind(of: path, in: plan) else {
            throw PersistenceError.unknownProperty(
                property.spelling, entity: plan.name, known: plan.propertyNames)
        }
        self.kind = kind
    }

    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    func value<Value: Decodable>(
        _ function: Function, as type: Value.Type, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> Value? {
        let kind: AttributeKind = function == .average ? .double : self.kind
        if context.hasChanges { return try decoded(changedValue(function, predicate, in: context), kind, type) }
        let request = request(predicate)
        request.propertiesToFetch = columns(function, kind.type)
        guard let row = try context.fetch(request).first as? [String: Any], Self.isOfAny(row) else { return nil }
        return try decoded(row["value"], kind, type)
    }

    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    func distinct<Value: Decodable>(
        _ type: Value.Type, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [Value] {
        if context.hasChanges {
            return try changedDistinct(predicate, in: context).map { try self.value($0, type) }
        }
        let request = request(predicate)
        request.propertiesToFetch = [path]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: path, ascending: true)]
        return try context.fetch(request).map { try value(($0 as? [String: Any])?[path], type) }
    }

    /// - SQL: `SELECT <property>, count(Z_PK) FROM Z<ENTITY> WHERE <filter> GROUP BY <property>`
    func counts<Value: Decodable & Hashable>(
        _ type: Value.Type, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [Value: Int] {
        let request = request(predicate)
        request.propertiesToFetch = [path, Self.column(.count, plan.uidKey, .integer64AttributeType)]
        request.propertiesToGroupBy = [path]
        var counts: [Value: Int] = [:]
        if context.hasChanges {
            for (group, count) in try changedValues(.count, by: self, predicate, in: context) {
                counts[try value(group, type)] = count as? Int ?? 0
            }
            return counts
        }
        for case let row as [String: Any] in try context.fetch(request) {
            counts[try value(row[path], type)] = (row["value"] as? NSNumber)?.intValue ?? 0
        }
        return counts
    }

    /// The sums of the property for each value of another one.
    func sums<Value: Decodable, Group: Decodable & Hashable>(
        _ type: Value.Type, by group: Aggregate, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [Group: Value] {
        let request = request(predicate)
        request.propertiesToFetch = [group.path] + columns(.sum, kind.type)
        request.propertiesToGroupBy = [group.path]
        var sums: [Group: Value] = [:]
        if context.hasChanges {
            for (value, sum) in try changedValues(.sum, by: group, predicate, in: context) {
                if let sum = try decoded(sum, kind, type) { sums[try group.value(value, Group.self)] = sum }
            }
            return sums
        }
        for case let row as [String: Any] in try context.fetch(request) {
            guard Self.isOfAny(row), let sum = try decoded(row["value"], kind, type) else { continue }
            sums[try group.value(row[group.path], Group.self)] = sum
        }
        return sums
    }

    private func request(_ predicate: NSPredicate?) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.resultType = .dictionaryResultType
        request.predicate = predicate
        return request
    }

    /// What is computed; of a sum, which is 0 for nothing, also how many values it is of.
    private func columns(_ function: Function, _ type: NSAttributeType) -> [NSExpressionDescription] {
        let value = Self.column(function, path, type)
        return function == .sum ? [value, Self.column(.count, path, .integer64AttributeType, name: "count")] : [value]
    }

    /// Whether what was computed is of any values, as far as these were counted.
    private static func isOfAny(_ row: [String: Any]) -> Bool { (row["count"] as? NSNumber)?.intValue != 0 }

    private static func column(
        _ function: Function, _ path: String, _ type: NSAttributeType, name: String = "value"
    ) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(
            forFunction: function.rawValue, arguments: [NSExpression(forKeyPath: path)])
        column.expressionResultType = type
        return column
    }

    /// A value of the property, `nil` for none, as the struct has it.
    private func value<Value: Decodable>(_ value: Any?, _ type: Value.Type) throws -> Value {
        let stored = StoredValue(value, kind) ?? .null
        if let leaf = AttributeDecoder.leaf(type, stored) { return leaf }
        return try decoded(type, stored)
    }

    /// A value that its type decodes by itself. What it refuses, such as a case that an enumeration does not have, names the property.
    private func decoded<Value: Decodable>(_ type: Value.Type, _ stored: StoredValue) throws -> Value {
        do { return try Value(from: ValueDecoder(value: stored, entity: plan.name, key: path)) } catch let error
            as DecodingError
        {
            throw PersistenceError.unreadable(entity: plan.name, key: path, reason: error.decodingReason)
        }
    }

    private func decoded<Value: Decodable>(_ value: Any?, _ kind: AttributeKind, _ type: Value.Type) throws -> Value? {
        guard let stored = StoredValue(value, kind), !stored.isNull else { return nil }
        if let leaf = AttributeDecoder.leaf(type, stored) { return leaf }
        return try decoded(type, stored)
    }
}

extension ModelRegistry {
    /// The kind of the attribute at the end of a path; nil where that is no plain attribute.
    func attributeKind(of path: String, in plan: EntityPlan) throws -> AttributeKind? {
        var fields = plan.fields
        var kind: AttributeKind?
        for name in path.split(separator: ".") {
            guard let field = fields.first(where: { $0.name == name }) else { return nil }
            switch field.kind {
            case .attribute(let attribute): (kind, fields) = (attribute, [])
            case .composite(let record): (kind, fields) = (nil, record.fields)
            case .toOne(let model): (kind, fields) = (nil, try self.plan(model).fields)
            case .json, .toMany: return nil
            }
        }
        return kind
    }
}
