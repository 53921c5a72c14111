import CompactCollections
import Foundation

extension FetchDescription {
    package func lead(to entity: NSEntityDescription) {
        guard self.entity !== entity else { return }
        let known = entity.propertiesByName
        func own(_ properties: [Any]?) -> [Any]? {
            properties?.map { property in
                guard let property = property as? NSPropertyDescription, property.owner != nil else { return property }
                return known[property.name] ?? property
            }
        }
        self.entity = entity
        propertiesToFetch = own(propertiesToFetch)
        propertiesToGroupBy = own(propertiesToGroupBy)
    }

    package var summary: String {
        func names(_ properties: [Any]?) -> [String]? {
            properties?.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
        }
        let parts: [Any?] = [
            entityName, predicate, sortDescriptors?.map { "\($0.key ?? "") \($0.ascending)" }, fetchLimit, fetchOffset,
            fetchBatchSize, resultType.rawValue, includesSubentities, includesPropertyValues, includesPendingChanges,
            returnsObjectsAsFaults, relationshipKeyPathsForPrefetching, names(propertiesToFetch),
            names(propertiesToGroupBy), havingPredicate, returnsDistinctResults, shouldRefreshRefetchedObjects,
        ]
        return parts.map { $0.map { "\($0)" } ?? "none" }.joined(separator: " | ")
    }
}
