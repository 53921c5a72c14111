import Foundation

extension FetchDescription {
    /// What Core Data prints of a request: its entity, predicate and order, and what differs from a new request.
    var describedRequest: String {
        let order = sortDescriptors.map { DescriptionText.list($0.map { DescriptionText.quoted($0.description) }) }
        var parts = [
            "entity: \(DescriptionText.value(entityName))",
            "predicate: (\(DescriptionText.value(predicate)))",
            "sortDescriptors: (\(DescriptionText.value(order)))",
        ]
        if fetchLimit != 0 { parts.append("limit: \(fetchLimit)") }
        if fetchOffset != 0 { parts.append("offset: \(fetchOffset)") }
        if fetchBatchSize != 0 { parts.append("batch size: \(fetchBatchSize)") }
        parts.append("type: \(resultType.constantName)")
        if !includesSubentities { parts.append("includesSubentities: NO") }
        if !includesPendingChanges { parts.append("includesPendingChanges: NO") }
        if !includesPropertyValues { parts.append("includesPropertyValues: NO") }
        if !returnsObjectsAsFaults { parts.append("returnsObjectsAsFaults: NO") }
        if returnsDistinctResults { parts.append("returnsDistinctResults: YES") }
        if let paths = relationshipKeyPathsForPrefetching, !paths.isEmpty {
            parts.append(
                "relationshipKeyPathsForPrefetching: \(DescriptionText.list(paths.map(DescriptionText.quoted)))")
        }
        if let properties = propertiesToFetch { parts.append("propertiesToFetch: \(names(of: properties))") }
        if let properties = propertiesToGroupBy { parts.append("propertiesToGroupBy: \(names(of: properties))") }
        if let havingPredicate { parts.append("havingPredicate: (\(havingPredicate))") }
        return "\(DescriptionText.head(of: self)) (\(parts.joined(separator: "; ")); )"
    }

    private func names(of properties: [Any]) -> String {
        DescriptionText.list(properties.map { DescriptionText.quoted(($0 as? NSPropertyDescription)?.name ?? "\($0)") })
    }
}

extension NSFetchRequestResultType {
    /// The name of Core Data's constant.
    fileprivate var constantName: String {
        switch self {
        case .managedObjectIDResultType: "NSManagedObjectIDResultType"
        case .dictionaryResultType: "NSDictionaryResultType"
        case .countResultType: "NSCountResultType"
        default: "NSManagedObjectResultType"
        }
    }
}
