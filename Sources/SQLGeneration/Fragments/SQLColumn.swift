/// A column, with its table's alias if that must be given.
package struct SQLColumn: Sendable, Equatable {
    /// The columns that every row has.
    package enum Name: Sendable, Equatable {
        /// The row's key.
        case key
        /// The number of the row's entity.
        case entity
        /// A number that grows with every change of the row.
        case version
        case named(String)
    }

    package var alias: String?
    package var name: Name

    package init(_ name: Name, of alias: String? = nil) { (self.name, self.alias) = (name, alias) }
    package init(_ name: String, of alias: String? = nil) { self.init(.named(name), of: alias) }
}
