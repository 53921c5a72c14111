import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// A kind of values in a column that are read as something else than what the file has, or of required values that are
/// missing, and those that were found.
struct MisreadColumn {
    /// `“Book.pages”`, as the beginning of a sentence.
    private let property: String
    /// `is not an integer`.
    private let complaint: String
    private let condition: SQLFragment
    /// What is named of each row; nil for its object alone.
    private let value: SQLFragment?
    private var count = 0
    private var names: [String] = []

    /// What some properties of an entity may have: values of another kind than their column, then numbers and texts
    /// that SQLite keeps, and the attribute's type does not have. Pure.
    ///
    /// - Parameters:
    ///   - mapping: the entity.
    ///   - slots: the numbers of its properties.
    /// - Returns: nothing found yet.
    static func all(of mapping: EntityMapping, slots: [Int]) -> [MisreadColumn] {
        let layout = mapping.layout
        let columns = slots.filter(mapping.columns.indices.contains)
        let strangers = columns.flatMap { mapping.columns[$0]?.flattened ?? [] }.map { column in
            MisreadColumn(
                property: "“\(layout.name).\(column.property)”", complaint: "is not \(name(of: column.storage))",
                condition: ValueCheckSQL.stranger(column), value: ValueCheckSQL.kind(of: column))
        }
        let misfits = columns.flatMap { typed(mapping.columns[$0], layout.slots[$0].attribute) }
            .compactMap { column, type -> MisreadColumn? in
                guard let condition = ValueCheckSQL.misfit(column, of: type) else { return nil }
                return MisreadColumn(
                    property: "“\(layout.name).\(column.property)”", complaint: "is not of type \(TypeName.of(type))",
                    condition: condition, value: "\(SQLColumn(column.name))")
            }
        return strangers + misfits
    }

    /// The required values that rows of an entity may lack, of its own properties: those of its superentities are
    /// looked for with them. A composite attribute has a value if one of its elements has one. Pure.
    static func required(of mapping: EntityMapping) -> [MisreadColumn] {
        let inherited = mapping.layout.superentity?.slots.count ?? 0
        return zip(mapping.layout.slots, mapping.columns).dropFirst(inherited).compactMap { slot, column in
            guard !slot.isOptional, slot.attribute?.derivation == nil, let column else { return nil }
            return MisreadColumn(
                property: "“\(mapping.layout.name).\(slot.name)”", complaint: "is missing, and required",
                condition: ValueCheckSQL.missing(column.flattened), value: nil)
        }
    }

    private init(property: String, complaint: String, condition: SQLFragment, value: SQLFragment?) {
        (self.property, self.complaint, self.condition, self.value) = (property, complaint, condition, value)
    }

    /// Adds what there is in some rows. Reads the rows once or twice, whatever the number of columns.
    ///
    /// - Parameters:
    ///   - columns: what to look for.
    ///   - mapping: the entity whose properties they are; its subentities are included.
    ///   - keys: the keys of the rows; nil for all.
    ///   - connection: reads the store's file.
    /// - Throws: SQLite's errors.
    static func look(
        for columns: inout [MisreadColumn], in mapping: EntityMapping, among keys: [Int64]? = nil,
        _ connection: Connection
    ) throws {
        let sql = ValueCheckSQL.counts(columns.map(\.condition), in: mapping, among: keys)
        for (index, count) in try counts(sql, columns.count, connection).enumerated() where count > 0 {
            columns[index].count += count
            let unnamed = TextTools.mostNamed - columns[index].names.count
            guard unnamed > 0 else { continue }
            let statement = try connection.prepare(
                ValueCheckSQL.values(
                    columns[index].value ?? "NULL", in: mapping, among: keys, where: columns[index].condition,
                    limit: unnamed))
            while try statement.step() {
                let value = statement.isNull(at: 1) ? "" : " (\(Self.shown(statement)))"
                columns[index].names.append("\(mapping.layout.name)/p\(statement.integer(at: 0))\(value)")
            }
        }
    }

    /// A text, or the bytes of one that is not UTF-8.
    private static func shown(_ statement: Statement) -> String {
        let bytes = statement.data(at: 1)
        if let text = String(validating: bytes, as: UTF8.self) { return TextTools.inOneLine(text) }
        let digits = bytes.prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        return "the bytes \(digits)\(bytes.count > 32 ? " …" : "")"
    }

    /// The numbers in a statement's only row; none if there is no row.
    static func counts(_ sql: SQLFragment, _ columns: Int, _ connection: Connection) throws -> [Int] {
        guard columns > 0 else { return [] }
        let statement = try connection.prepare(sql)
        // A sum over no rows is null.
        guard try statement.step() else { return [] }
        return (0..<columns).map { Int(statement.integer(at: Int32($0))) }
    }

    /// What was found, as a sentence without its final period; nil for nothing.
    var text: String? {
        guard count > 0 else { return nil }
        let rest = count > names.count ? ", …" : ""
        return
            "\(property) of \(TextTools.count(count, "object")) \(complaint): \(names.joined(separator: ", "))\(rest)"
    }

    /// The columns of an attribute with their types: the elements of a composite one have some each.
    private static func typed(
        _ column: SlotColumn?, _ attribute: AttributeLayout?
    ) -> [(SlotColumn, NSAttributeType)] {
        guard let column, let attribute else { return [] }
        if !column.isComposite { return [(column, attribute.type)] }
        return zip(column.elements, attribute.elements).flatMap { typed($0, $1) }
    }

    private static func name(of storage: ColumnStorage) -> String {
        switch storage {
        case .integer, .boolean: "an integer"
        case .toOne: "an object’s number"
        case .double, .float, .date, .decimal: "a number"
        case .string, .url: "a text"
        case .uuid, .data, .transformable: "binary data"
        }
    }
}

extension OpenedStore {
    /// The values that are read as something else than what the file has, as sentences without their final periods.
    ///
    /// - Parameter entity: the entity that is shown with its subentities; nil for all.
    /// - Returns: a sentence for each property that has such values.
    /// - Throws: an error for a file that cannot be read.
    package func misreadValues(of entity: EntityLayout?) throws -> [String] {
        guard facts.kind == .sqlite else { return [] }
        return try ValueCheck.shownOtherwise(in: layout, coordinator.managedObjectModel, copy.url, of: entity)
    }
}

/// The values that are read as something else than what the file has, among the rows that are shown: what nobody sees
/// is not looked at, so that three rows of a large table take no longer than three of a small one.
struct MisreadRows {
    private let mapping: EntityMapping
    private let connection: Connection
    private var found: [MisreadColumn]

    /// Nil for a store that is not a SQLite file, which has no such values, and for an entity without a table.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - entity: the entity whose properties are shown.
    ///   - slots: the numbers of these properties.
    /// - Throws: an error for a file that cannot be read.
    init?(_ store: DirectStore, _ entity: EntityLayout, slots: [Int]) throws {
        guard let file = store.file, store.pagesByKey else { return nil }
        connection = try ReadingConnection.open(file)
        let schema = try ReadingConnection.schema(of: store, file)
        guard let mapping = schema.mapping(of: entity) else { return nil }
        self.mapping = mapping
        found = MisreadColumn.all(of: mapping, slots: slots)
    }

    /// Looks at rows that are shown.
    ///
    /// - Throws: SQLite's errors.
    mutating func follow(_ rows: some Sequence<Row>) throws {
        let keys = rows.map(\.objectID.key)
        do { try MisreadColumn.look(for: &found, in: mapping, among: keys, connection) } catch let error as SQLiteError
            where error.isBeyondLimit
        {
            // What is too large to be looked at is not shown, either.
            for key in keys { try? MisreadColumn.look(for: &found, in: mapping, among: [key], connection) }
        }
    }

    /// A sentence for each property with such values, without its final period.
    var texts: [String] { found.compactMap(\.text).map(Self.ofOutput) }

    static func ofOutput(_ text: String) -> String { "\(text); the output has what they are read as" }
}

/// The values of an SQLite store that are read as something else than what the file has: those of another kind than
/// their property, such as a text in a column of numbers, which is read as 0, and those beyond its type. Reads each
/// table once or twice.
extension ValueCheck {
    /// What a copy has otherwise than its source.
    ///
    /// - Parameters:
    ///   - store: the store, open; one of another type has no such values.
    ///   - coordinator: its coordinator.
    /// - Returns: a sentence for each property, without its final period.
    /// - Throws: `CommandError` for rows that no copy can have, and an error for a file that cannot be read.
    package static func differencesOfCopy(
        of store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator
    ) throws -> [String] {
        guard store.type == NSSQLiteStoreType, let url = store.url else { return [] }
        let layout = coordinator.modelLayout
        let roots = layout.entities.filter { $0.superentity == nil }
        let strangers = try StrangeRows.texts(of: roots, in: layout, coordinator.managedObjectModel, url)
        guard strangers.isEmpty else {
            throw CommandError("\(strangers.joined(separator: "; ")). A copy cannot have them, and was not made")
        }
        let check = try ValueCheck(layout, coordinator.managedObjectModel, url)
        return try check.misread(among: layout.entities).map { "\($0); the copy has what they are read as" }
            + layout.entities.flatMap { entity -> [String] in
                guard let mapping = check.schema.mapping(of: entity) else { return [] }
                return try check.strangePairs(from: mapping).map { "\($0.text); the copy does not have them" }
            }
    }

    /// What is shown of a store otherwise than the file has it.
    ///
    /// - Parameters:
    ///   - layout: the model's layout.
    ///   - model: the model.
    ///   - url: the store's file.
    ///   - entity: the entity that is shown with its subentities; nil for all of the model.
    /// - Returns: a sentence for each property, without its final period.
    /// - Throws: an error for a file that cannot be read.
    static func shownOtherwise(
        in layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL, of entity: EntityLayout?
    ) throws -> [String] {
        var entities = layout.entities
        if let entity {
            entities = entity.selfAndSubentities
            // Inherited properties are checked with the entities that declare them.
            var ancestor = entity.superentity
            while let next = ancestor {
                entities.insert(next, at: 0)
                ancestor = next.superentity
            }
        }
        return try ValueCheck(layout, model, url).misread(among: entities).map(MisreadRows.ofOutput)
    }

    private init(_ layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL) throws {
        self.init(try ReadingConnection.schema(of: layout, model, url), try ReadingConnection.open(url))
    }

    private func misread(among entities: [EntityLayout]) throws -> [String] {
        try entities.flatMap { entity -> [String] in
            // The rest of a store whose tables are damaged is shown all the same.
            guard let mapping = schema.mapping(of: entity) else { return [] }
            return try misread(in: mapping).map(\.text)
        }
    }
}
