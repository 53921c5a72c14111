/// The names of the columns that every table has. No property has such a name: properties begin with a letter.
package enum ColumnName {
    package static let key = "_id"
    /// The number of the row's entity.
    package static let entity = "_entity"
    /// A number that grows with every change of the row.
    package static let version = "_version"
}

/// The schema with Pippin's bookkeeping for the stores of a database.
package enum Bookkeeping {
    package static let schema = "pippin"
    /// The schema of a store's tables if no other one is given.
    package static let defaultStore = "public"
    /// The version of the tables in the schema.
    package static let version: Int64 = 1
}
