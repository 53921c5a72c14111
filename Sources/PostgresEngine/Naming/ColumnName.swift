/// What the columns that every table has are called. No property has such a name: properties begin with a letter.
package enum ColumnName {
    package static let key = "_id"
    /// The number of the row's entity.
    package static let entity = "_entity"
    /// What grows with every change of the row.
    package static let version = "_version"
}

/// The schema with what Pippin knows of the stores of a database.
package enum Bookkeeping {
    package static let schema = "pippin"
    /// The schema that a store's tables are in where nobody says another one.
    package static let defaultStore = "public"
    /// The version of the tables in the schema.
    package static let version: Int64 = 1
}
