import CoreDataModel
import SQLGeneration
import SQLiteConnection

/// The statements that write a to-many relationship of an entity: made once, however many saves change it.
struct ToManyStatements {
    let mapping: ToManyMapping
    /// For pairs of a join table, and for owners.
    private(set) var insertPair: Statement?
    private(set) var deletePair: Statement?
    /// For pairs of an ordered relationship of new objects.
    private(set) var insertPlacedPair: Statement?
    /// For an ordered relationship.
    let selectOrder: Statement?
    let writeOrder: Statement?

    init(_ mapping: ToManyMapping, of relationship: RelationshipLayout, in store: OpenStore) throws {
        self.mapping = mapping
        let connection = store.connection
        selectOrder = try RowSQL.orderKeys(mapping).map { try connection.statement($0.sqlite.text) }
        writeOrder = try RowSQL.setOrderKey(mapping).map { try connection.statement($0.sqlite.text) }
        switch mapping {
        case .joinTable(let join):
            insertPair = try connection.statement(RowSQL.insertPair(join).sqlite.text)
            deletePair = try connection.statement(RowSQL.deletePair(join).sqlite.text)
            insertPlacedPair = try RowSQL.insertPlacedPair(join).map { try connection.statement($0.sqlite.text) }
        case .foreignKey(let column) where !column.hasInverse:
            let owner = try store.access(relationship.source).mapping
            insertPair = try connection.statement(RowSQL.own(column, by: owner).sqlite.text)
            deletePair = try connection.statement(RowSQL.release(column).sqlite.text)
        case .foreignKey: break
        }
    }
}
