import CoreDataModel

// Several subentities may each declare a property of one name, whose values are in a column for each of them.
extension EntityMapping {
    /// The column of a property of which another subentity has one of the same name.
    ///
    /// - Throws: an `NSError` that names both, if they cannot be read as one.
    func sibling(_ key: String, of column: SlotColumn, in mapping: EntityMapping) throws -> SlotColumn {
        try checkAvailable(key, "cannot be fetched or compared")
        guard let own = self.column(named: key), own.storage == column.storage, !own.isComposite, !column.isComposite,
            own.destination?.root === column.destination?.root
        else { throw isNoSibling(key, of: mapping) }
        return own
    }

    /// The error for two properties that cannot be read as one.
    func isNoSibling(_ key: String, of mapping: EntityMapping) -> any Error {
        SQLError.unsupported(
            "“\(mapping.layout.name).\(key)” and “\(layout.name).\(key)” at once, which differ in type")
    }
}

extension SlotColumn {
    /// The value in a row: `t0.ZCODE`, or `IFNULL(t0.ZCODE, t0.ZCODE1)`.
    func value(of alias: String) -> SQLFragment { value(of: alias, \.name) ?? "NULL" }

    /// The number of the entity of the object that a to-one relationship leads to; nil if it can be of only one.
    func entity(of alias: String) -> SQLFragment? { value(of: alias, \.entityColumn) }

    /// The columns, for each entity that declares the property.
    func values(of alias: String, _ name: (SlotColumn) -> String?) -> [SQLFragment] {
        ([self] + siblings).compactMap(name).map { "\(SQLColumn($0, of: alias))" }
    }

    private func value(of alias: String, _ name: (SlotColumn) -> String?) -> SQLFragment? {
        let columns = values(of: alias, name)
        return columns.dropFirst().reduce(columns.first) { value, next in value.map { .call(.ifNull, $0, next) } }
    }
}
