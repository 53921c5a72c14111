import CoreDataModel
import PredicateFormat
import StoreEngine
import StoreSession

extension FetchDescription {
    /// Whether a dictionary may be one of several objects: of a group, of all, or of those with the same values.
    var combinesObjects: Bool {
        if returnsDistinctResults || !(propertiesToGroupBy ?? []).isEmpty { return true }
        return (propertiesToFetch ?? []).contains { $0 is NSExpressionDescription || ($0 as? String)?.first == "@" }
    }

    /// - Throws: an error if the request for objects, or their IDs, has what only dictionaries can have.
    func checkForObjects() throws {
        if !(propertiesToGroupBy ?? []).isEmpty {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "A request with propertiesToGroupBy has dictionaries as results: set resultType to .dictionaryResultType."
            )
        }
        for case let column as NSExpressionDescription in propertiesToFetch ?? [] {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "The expression description “\(column.name)” in propertiesToFetch is for dictionaries: set resultType to .dictionaryResultType."
            )
        }
    }
}

extension FetchPlan {
    /// Checks that every value of a group's dictionary is one of the group. SQLite would take that of any row of the
    /// group.
    ///
    /// The store refuses groups by what has no single value, with a reason of its own.
    ///
    /// - Throws: an error that names a column which is neither grouped by nor computed of the group, or a condition on
    ///   groups where there are none.
    func checkGroups() throws {
        guard !groupBy.isEmpty else {
            guard having == nil else {
                throw StoreError.make(
                    CoreDataErrorCode.coreData,
                    "havingPredicate is a condition on groups: set propertiesToGroupBy, too.")
            }
            return
        }
        let keys = groupBy.map(tree(ofColumn:))
        guard keys.allSatisfy(hasOneValue) else { return }
        for column in columns where !column.tree.isOfGroup(by: keys) {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "“\(column.name)” of entity “\(entity.name)” is neither among propertiesToGroupBy (\(groupBy.joined(separator: ", "))) nor computed of the group, as by count: and max: is."
            )
        }
    }

    /// Whether a key path leads to an attribute, or over to-one relationships only. Anything else is taken for one
    /// value.
    private func hasOneValue(_ tree: ExpressionTree) -> Bool {
        guard case .keyPath(let path) = tree else { return true }
        var owner = entity
        for key in path {
            guard case .slot(let slot) = owner.propertyByName[key] else { return false }
            guard let relationship = owner.slots[slot].relationship else { return true }
            owner = relationship.destination
        }
        return true
    }
}

extension ExpressionTree {
    /// Whether all rows of a group have one value of the expression, as far as its form shows.
    fileprivate func isOfGroup(by keys: [ExpressionTree]) -> Bool {
        if keys.contains(self) { return true }
        switch self {
        case .evaluatedObject: return false
        case .keyPath(let path): return path.contains { $0.hasPrefix("@") }
        case .function(let function, let arguments):
            return function.takesCollection || arguments.allSatisfy { $0.isOfGroup(by: keys) }
        case .cast(let value, _): return value.isOfGroup(by: keys)
        default: return true
        }
    }
}
