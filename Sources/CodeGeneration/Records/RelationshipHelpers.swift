/// The methods that Xcode generates for a to-many relationship: `addToBooks(_:)`, `insertIntoBooks(_:at:)` …
struct RelationshipHelpers {
    let relationship: RecordRelationship
    /// The class of the related objects.
    let destination: String

    func text() -> String {
        let name = relationship.name.capitalizedFirst
        let key = PropertyKeys.reference(to: relationship.name)
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        let methods = [
            ("addTo\(name)(_ value: \(destination))", "managedAdd(value, for: \(key))"),
            ("addTo\(name)(_ values: \(set))", "managedAdd(values, for: \(key))"),
            ("removeFrom\(name)(_ value: \(destination))", "managedRemove(value, for: \(key))"),
            ("removeFrom\(name)(_ values: \(set))", "managedRemove(values, for: \(key))"),
        ]
        let ordered = [
            ("insertInto\(name)(_ value: \(destination), at idx: Int)", "managedInsert(value, at: idx, for: \(key))"),
            (
                "insertInto\(name)(_ values: [\(destination)], at indexes: NSIndexSet)",
                "managedInsert(values, at: indexes, for: \(key))"
            ),
            ("removeFrom\(name)(at idx: Int)", "managedRemove(at: idx, for: \(key))"),
            ("removeFrom\(name)(at indexes: NSIndexSet)", "managedRemove(at: indexes, for: \(key))"),
            (
                "replace\(name)(at idx: Int, with value: \(destination))",
                "managedReplace(at: idx, with: value, for: \(key))"
            ),
            (
                "replace\(name)(at indexes: NSIndexSet, with values: [\(destination)])",
                "managedReplace(at: indexes, with: values, for: \(key))"
            ),
        ]
        return (methods + (relationship.isOrdered ? ordered : []))
            .map { "    public func \($0) {\n        \($1)\n    }\n" }.joined(separator: "\n")
    }
}
