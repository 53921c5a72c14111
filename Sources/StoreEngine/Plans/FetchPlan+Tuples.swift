import CoreDataModel

extension FetchPlan {
    /// The values of dictionaries in the order of the plan's columns, which are key paths that end at attributes.
    package func tuples(of dictionaries: [[String: Any]]) -> [ContiguousArray<StoredValue>] {
        let attributes = columns.compactMap { column -> (path: String, attribute: AttributeLayout)? in
            guard case .keyPath(let path) = column else { return nil }
            return entity.attribute(at: path.split(separator: ".").map(String.init)).map { (path, $0) }
        }
        return dictionaries.map { row in
            ContiguousArray(attributes.map { StoredValue(row[$0.path], for: $0.attribute) })
        }
    }
}
