import Foundation

extension FetchDescription {
    /// Whether another request has the same entity, predicate, order and settings.
    func asks(theSameAs other: any FetchDescription) -> Bool {
        entityName == other.entityName && hasEntity(of: other) && predicate == other.predicate
            && sortDescriptors == other.sortDescriptors && resultType == other.resultType
            && fetchLimit == other.fetchLimit && fetchOffset == other.fetchOffset
            && fetchBatchSize == other.fetchBatchSize && includesSubentities == other.includesSubentities
            && includesPropertyValues == other.includesPropertyValues
            && includesPendingChanges == other.includesPendingChanges
            && returnsObjectsAsFaults == other.returnsObjectsAsFaults
            && relationshipKeyPathsForPrefetching == other.relationshipKeyPathsForPrefetching
            && Self.areEqual(propertiesToFetch, other.propertiesToFetch)
            && Self.areEqual(propertiesToGroupBy, other.propertiesToGroupBy)
            && havingPredicate == other.havingPredicate && returnsDistinctResults == other.returnsDistinctResults
            && shouldRefreshRefetchedObjects == other.shouldRefreshRefetchedObjects
            && affectedStoreObjects?.map(ObjectIdentifier.init)
                == other.affectedStoreObjects?.map(ObjectIdentifier.init)
    }

    /// A request by name finds its entity when it is executed, and is equal to one that has it already.
    private func hasEntity(of other: any FetchDescription) -> Bool {
        guard let entity, let otherEntity = other.entity else { return true }
        return entity == otherEntity
    }

    /// Lists of names and descriptions.
    private static func areEqual(_ one: [Any]?, _ other: [Any]?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.count == other.count
            && zip(one, other).allSatisfy { ($0 as? AnyHashable) == ($1 as? AnyHashable) }
    }
}
