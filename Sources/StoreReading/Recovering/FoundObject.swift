import CoreData
import SQLGeneration
import SQLiteEngine

/// A row of a store's file as an object of the model: of a table of entities, of a join table, or of another table.
package struct FoundObject {
    /// The entity; nil for a row that is not an object's.
    package let entityName: String?
    package let table: String
    /// The object's number; nil where its bytes are overwritten.
    package let key: Int64?
    /// How many times the object was saved; nil for a row that is not an object's.
    package let version: Int64?
    /// The object's URI; nil without an entity or a number.
    package let uri: String?
    /// Attributes and to-one relationships by the names of the model, or columns by theirs.
    package let fields: [ObjectRecord.Field]
}

/// Makes objects of the rows of a store's tables. Pure, but for values in files beside the store.
package struct RowDecoder {
    /// What is written where a value's bytes are not there any more.
    package static let overwritten = "its bytes are overwritten"

    private let schema: SQLSchema?
    private let uuid: String
    private let external: ExternalData?
    private let encoding: DatabaseHeader.Encoding
    private let counters: [Int64: KeyGaps.Counter]

    /// - Parameters:
    ///   - schema: the tables of the model; nil for a store without one, whose columns have their own names.
    ///   - uuid: the store's identifier.
    ///   - store: the store, beside which the files with large values are; nil for none.
    ///   - encoding: how texts are encoded.
    ///   - counters: the greatest numbers that objects got.
    init(
        _ schema: SQLSchema?, uuid: String, store: URL?, encoding: DatabaseHeader.Encoding,
        counters: [Int64: KeyGaps.Counter]
    ) {
        (self.schema, self.uuid, self.encoding, self.counters) = (schema, uuid, encoding, counters)
        external = store.map { ExternalData(store: $0, keepsBytes: true) }
    }

    /// What is known of the values of a table's columns: the numbers of its entities, and how often an object was
    /// saved.
    package func refine(_ shape: TableShape) -> TableShape {
        var shape = shape
        let numbers = Set((schema?.mappings ?? []).compactMap { $0 }.filter { $0.table == shape.name }.map(\.number))
        let isJoin = RawTables.isJoinTable(shape.name)
        for index in shape.columns.indices {
            switch shape.columns[index].name {
            case "Z_ENT": shape.columns[index].choices = numbers.isEmpty ? nil : Set(numbers.map(Int64.init))
            case "Z_OPT": shape.columns[index].integers = 0...Int64(Int32.max)
            default:
                guard isJoin, let greatest = greatest(in: shape.columns[index].name) else { continue }
                shape.columns[index].integers = 0...greatest
            }
        }
        return shape
    }

    /// The greatest key that a column of a join table can have: the number in its name is that of an entity.
    private func greatest(in column: String) -> Int64? {
        let digits = column.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
        return Int64(digits).flatMap { KeyGaps.greatest(ofEntity: $0, counters) }.map { max(0, $0) }
    }

    /// The object of a row.
    ///
    /// - Parameters:
    ///   - key: its number; nil where it is not known.
    ///   - values: its values, in the order of the columns.
    ///   - shape: the table.
    /// - Returns: the object.
    package func object(key: Int64?, _ values: [RecordValue?], of shape: TableShape) -> FoundObject {
        var columns: [String: RecordValue?] = [:]
        for (column, value) in zip(shape.columns, values) {
            columns[column.name] = column.isKey ? key.map { .integer($0) } : value
        }
        guard let mapping = mapping(shape.name, columns["Z_ENT"] ?? nil) else {
            let fields = zip(shape.columns, values).map { column, value in
                ObjectRecord.Field(name: column.name, value: plain(column.isKey ? key.map { .integer($0) } : value))
            }
            return FoundObject(
                entityName: nil, table: shape.name, key: key, version: nil, uri: nil, fields: fields)
        }
        let entity = mapping.layout
        let fields = entity.slots.enumerated().compactMap { index, slot -> ObjectRecord.Field? in
            guard !slot.isTransient, let column = mapping.columns[index] else { return nil }
            return ObjectRecord.Field(name: slot.name, value: value(columns, column, slot.attribute))
        }
        var version: Int64?
        if case .integer(let number)?? = columns["Z_OPT"] { version = number }
        return FoundObject(
            entityName: entity.name, table: shape.name, key: key, version: version,
            uri: key.map { uri(entity, $0) }, fields: fields)
    }

    private func uri(_ entity: EntityLayout, _ key: Int64) -> String { "x-coredata://\(uuid)/\(entity.name)/p\(key)" }

    /// The entity of a row: by its number, or the table's root entity.
    private func mapping(_ table: String, _ number: RecordValue?) -> EntityMapping? {
        guard let schema else { return nil }
        if case .integer(let number)? = number, let exact = Int(exactly: number),
            let mapping = schema.mapping(number: exact), mapping.table == table
        {
            return mapping
        }
        return schema.mappings.lazy.compactMap { $0 }.first { $0.table == table }
    }

    // MARK: Values

    private func value(
        _ columns: [String: RecordValue?], _ column: SlotColumn, _ attribute: AttributeLayout?
    ) -> FieldValue {
        if column.isComposite {
            return .composite(
                column.elements.map { element in
                    let name = String(element.property.split(separator: ".").last ?? "")
                    let layout = attribute?.elements.first { $0.name == name }
                    return FieldValue.Element(name: name, value: value(columns, element, layout))
                })
        }
        guard let found = columns[column.name] else { return .unknown("the table has no such column") }
        guard let stored = found else { return .unknown(Self.overwritten) }
        if case .null = stored { return column.destination == nil ? .null : .noObject }
        if let destination = column.destination {
            guard case .integer(let key) = stored else { return plain(stored) }
            var entity = destination
            if let name = column.entityColumn, case .integer(let number)?? = columns[name],
                let exact = schema?.entity(numbered: number, kindOf: destination)
            {
                entity = exact
            }
            return .object(ObjectLink(entityName: entity.name, key: key, uri: uri(entity, key)))
        }
        return typed(stored, column.storage, attribute) ?? plain(stored)
    }

    /// A value of the column's type; nil for one of another type.
    private func typed(
        _ stored: RecordValue, _ storage: ColumnStorage, _ attribute: AttributeLayout?
    ) -> FieldValue? {
        switch (storage, stored) {
        case (.integer, .integer(let number)), (.boolean, .integer(let number)):
            return attribute?.type == .booleanAttributeType ? .boolean(number != 0) : .integer(number)
        case (.double, .integer(let number)), (.float, .integer(let number)): return .double(Double(number))
        case (.date, .real(let seconds)): return .date(seconds)
        case (.date, .integer(let seconds)): return .date(Double(seconds))
        case (.decimal, .integer(let number)): return .decimal("\(number)")
        case (.decimal, .real(let number)): return .decimal(NSDecimalNumber(value: number).stringValue)
        case (.decimal, .text): return stored.string(encoding).map { .decimal($0) }
        case (.url, .text): return stored.string(encoding).map { .url($0) }
        case (.uuid, .blob(let bytes)) where bytes.count == 16:
            return .uuid(
                bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        case (.data(let isExternal), .blob(let bytes)), (.transformable(let isExternal), .blob(let bytes)):
            guard isExternal, let external else { return data(Data(bytes), attribute) }
            switch external.content(of: Data(bytes)) {
            case .value(let content): return data(content, attribute)
            case .missing(let missing): return .missing(file: missing.file.path, reason: missing.reason)
            }
        default: return nil
        }
    }

    private func data(_ bytes: Data, _ attribute: AttributeLayout?) -> FieldValue {
        attribute.map { FieldValue(.data(bytes), $0) } ?? .data(bytes)
    }

    /// A value as the file has it.
    private func plain(_ value: RecordValue?) -> FieldValue {
        switch value {
        case nil: .unknown(Self.overwritten)
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .double(number)
        case .text(let bytes): value?.string(encoding).map { .string($0) } ?? .data(Data(bytes))
        case .blob(let bytes): .data(Data(bytes))
        }
    }
}
