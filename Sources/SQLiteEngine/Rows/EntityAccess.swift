import CoreDataModel
import SQLGeneration
import SQLiteConnection

/// An entity's statements, made once, for selecting, reading and writing its rows.
final class EntityAccess {
    let mapping: EntityMapping
    /// The columns that are selected for its rows.
    let shape: RowShape
    let reader: RowReader
    let selectText: String
    let selectManyText: String
    let insertText: String
    let deleteText: String
    let greatestKeyText: String
    let writer: RowWriter
    /// The statements that remove a deleted object from the join tables of its relationships, and from the rows that it
    /// owns by a relationship without inverse.
    let pairDeletions: [String]
    private var updates: [[Int]: String] = [:]
    private var columnTexts: [String: String] = [:]
    private var valueTexts: [Int: String] = [:]
    /// The statement that selects the rows with one value in a slot, for the slot used last.
    private var valueSelection: (slot: Int, statement: Statement)?
    private var memberTexts: [ObjectIdentifier: String] = [:]
    /// The statements that select the rows at the end of a relationship of one object.
    private var memberSelections: [ObjectIdentifier: Statement] = [:]
    /// The statements that write its relationships, by the relationships' indexes.
    var toManyStatements: [Int: ToManyStatements] = [:]
    private var selection: Statement?

    /// The prepared statement that selects one row, without looking its text up again.
    func selectStatement(on connection: Connection) throws -> Statement {
        if let selection, !selection.isBusy { return selection }
        let new = try connection.statement(selectText)
        if selection == nil { selection = new }
        return new
    }

    /// How many rows one statement of `selectManyText` selects.
    static let batch = 128

    init(_ mapping: EntityMapping, schema: SQLSchema, identity: StoreIdentity, external: ExternalData) {
        self.mapping = mapping
        shape = RowShape(mapping.layout.selfAndSubentities.compactMap { schema.mapping(of: $0) })
        reader = RowReader(shape: shape, schema: schema, identity: identity, external: external)
        selectText = RowSQL.select(mapping, shape: shape).sqlite.text
        selectManyText = RowSQL.select(mapping, shape: shape, count: Self.batch).sqlite.text
        insertText = RowSQL.insert(mapping).sqlite.text
        deleteText = RowSQL.delete(mapping).sqlite.text
        greatestKeyText = RowSQL.readMaximumKey(of: mapping.table).sqlite.text
        writer = RowWriter(mapping, schema: schema, coding: external.coding)
        pairDeletions = mapping.toManys.flatMap { toMany -> [String] in
            switch toMany {
            case .joinTable(let join):
                let own = RowSQL.deletePairs(of: join).sqlite.text
                return join.isReflexive ? [own, RowSQL.deletePairs(of: join.reversed).sqlite.text] : [own]
            case .foreignKey(let key): return key.hasInverse ? [] : [RowSQL.releaseAll(key).sqlite.text]
            case nil: return []
            }
        }
    }

    /// The statement that reads one column of a row.
    func selectText(_ column: String) -> String {
        if let known = columnTexts[column] { return known }
        let text = ColumnSQL.select([column], in: mapping.table).sqlite.text
        columnTexts[column] = text
        return text
    }

    /// The statement that selects the entity's rows at the end of a relationship, for `batch` objects; the key of the
    /// object follows the row.
    func selectText(of relationship: RelationshipLayout, _ toMany: ToManyMapping) -> String {
        if let known = memberTexts[ObjectIdentifier(relationship)] { return known }
        let text = RowSQL.members(toMany, mapping, shape: shape, count: Self.batch).sqlite.text
        memberTexts[ObjectIdentifier(relationship)] = text
        return text
    }

    /// The prepared statement that selects the entity's rows at the end of a relationship of one object, without
    /// looking its text up again.
    func selectStatement(
        of relationship: RelationshipLayout, _ toMany: ToManyMapping, on connection: Connection
    ) throws -> Statement {
        let known = memberSelections[ObjectIdentifier(relationship)]
        if let known, !known.isBusy { return known }
        let new = try connection.statement(RowSQL.members(toMany, mapping, shape: shape, count: 1).sqlite.text)
        if known == nil { memberSelections[ObjectIdentifier(relationship)] = new }
        return new
    }

    /// The statement that selects the rows with one of `batch` values in a slot with a single column.
    func selectText(where slot: Int, _ column: SlotColumn) -> String {
        if let known = valueTexts[slot] { return known }
        let text = RowSQL.select(mapping, shape: shape, where: column, isAmong: Self.batch).sqlite.text
        valueTexts[slot] = text
        return text
    }

    /// The prepared statement that selects the rows with one value in a slot, without looking its text up again.
    func selectStatement(_ slot: Int, _ column: SlotColumn, on connection: Connection) throws -> Statement {
        if let known = valueSelection, known.slot == slot, !known.statement.isBusy { return known.statement }
        let text = RowSQL.select(mapping, shape: shape, where: column).sqlite.text
        let statement = try connection.statement(text)
        valueSelection = (slot, statement)
        return statement
    }

    /// The statement that writes some slots.
    func updateText(_ slots: [Int]) -> String {
        if let known = updates[slots] { return known }
        let text = RowSQL.update(mapping, slots: slots).sqlite.text
        updates[slots] = text
        return text
    }
}

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
