import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// A column that is written: which slot its value comes from, and how.
struct WrittenColumn {
    let name: String
    let slot: Int
    let kind: ColumnKind
    /// The attribute; for an element of a composite attribute, that of the element. Nil for relationships.
    let attribute: AttributeLayout?
    /// For an element of a composite attribute: the names that lead to it.
    let path: [String]
    /// For a reference with a place in an ordered relationship: the column with the place.
    let orderColumn: String?

    /// The columns that the slots of an entity fill, without those of derived attributes.
    ///
    /// - Parameters:
    ///   - mapping: the entity's table.
    ///   - includesDerived: whether to include the columns of derived attributes.
    /// - Returns: the columns, in the order of the slots.
    static func columns(of mapping: EntityMapping, includesDerived: Bool = false) -> [WrittenColumn] {
        mapping.columns.indices.flatMap { slot -> [WrittenColumn] in
            guard let column = mapping.columns[slot], includesDerived || !column.isDerived else { return [] }
            return columns(column, slot: slot, mapping.layout.slots[slot].attribute, path: [])
        }
    }

    private static func columns(
        _ column: SlotColumn, slot: Int, _ attribute: AttributeLayout?, path: [String]
    ) -> [WrittenColumn] {
        if column.isComposite {
            return column.elements.flatMap { element -> [WrittenColumn] in
                let name = String(element.property.split(separator: ".").last ?? "")
                let layout = attribute?.elements.first { $0.name == name }
                return columns(element, slot: slot, layout, path: path + [name])
            }
        }
        let own = WrittenColumn(
            name: column.name, slot: slot, kind: ColumnKind(column.storage, attribute), attribute: attribute,
            path: path,
            orderColumn: column.orderColumn)
        guard let entity = column.entityColumn else { return [own] }
        return [
            own,
            WrittenColumn(
                name: entity, slot: slot, kind: .entityNumber, attribute: nil, path: path, orderColumn: nil),
        ]
    }
}

/// Where a value of rows is written. It is small, since it is used for each value of each row.
struct WrittenPlace {
    let slot: Int
    let kind: ColumnKind
    /// The position of the column in the writer's columns.
    let column: Int
}

/// Writes the values of an entity's rows.
struct ValueWriter {
    let mapping: EntityMapping
    let schema: SQLSchema
    /// The columns that rows are written to.
    let columns: [WrittenColumn]
    let places: ContiguousArray<WrittenPlace>

    init(mapping: EntityMapping, schema: SQLSchema, columns: [WrittenColumn]) {
        (self.mapping, self.schema, self.columns) = (mapping, schema, columns)
        places = ContiguousArray(
            columns.indices.map {
                WrittenPlace(slot: columns[$0].slot, kind: columns[$0].kind, column: $0)
            })
    }

    /// Writes all values of a row.
    ///
    /// - Throws: an `NSError` that names the property, if its column does not accept a value.
    @inline(__always)
    func write(_ values: ContiguousArray<StoredValue>, to sink: inout some ValueSink) throws {
        for place in places { try write(values[place.slot], place, to: &sink) }
    }

    /// Writes one value.
    ///
    /// - Throws: an `NSError` that names the property, if the column does not accept the value.
    @inline(__always)
    func write(_ value: StoredValue, _ place: WrittenPlace, to sink: inout some ValueSink) throws {
        if !writeUsual(value, place.kind, to: &sink) { try writeRare(value, columns[place.column], to: &sink) }
    }

    /// The same for a column that need not be one of the writer's.
    func write(_ value: StoredValue, _ column: WrittenColumn, to sink: inout some ValueSink) throws {
        if !writeUsual(value, column.kind, to: &sink) { try writeRare(value, column, to: &sink) }
    }

    /// Writes a value of the usual kinds.
    ///
    /// - Returns: false if nothing was written, since the value needs special handling, or is not acceptable.
    @inline(__always)
    private func writeUsual(_ value: StoredValue, _ kind: ColumnKind, to sink: inout some ValueSink) -> Bool {
        switch (value, kind) {
        case (.null, _): sink.appendNull()
        case (.string(let text), .string):
            if text.utf8.count > Self.longest || text.hasZero { return false }
            sink.append(text)
        case (.integer(let number), .bigint): sink.append(number)
        case (.integer(let number), .boolean): sink.append(number != 0)
        case (.double(let number), .double): if number.isNaN { sink.appendNull() } else { sink.append(number) }
        case (.date(let seconds), .date):
            guard let timestamp = Timestamp(secondsSince2001: seconds) else { return false }
            sink.append(timestamp)
        case (.identifier(let identifier), .key): sink.append(identifier.key)
        case (.uuid(let uuid), .uuid): sink.append(uuid)
        default: return false
        }
        return true
    }

    private func writeRare(_ value: StoredValue, _ column: WrittenColumn, to sink: inout some ValueSink) throws {
        switch (value, column.kind) {
        case (.string(let text), .string):
            throw unacceptable(column, text.utf8.count > Self.longest ? Self.tooLong : Self.zero)
        case (.date(let seconds), .date): try write(date: seconds, column, to: &sink)
        case (.object(let object as CompositeValue), _) where !column.path.isEmpty:
            guard let attribute = column.attribute else { return sink.appendNull() }
            try write(object.stored(at: column.path[...], attribute), column.withoutPath, to: &sink)
        case (.integer(let number), .smallint):
            guard let small = Int16(exactly: number) else {
                throw unacceptable(column, "\(number) is no 16-bit integer")
            }
            sink.append(small)
        case (.integer(let number), .integer):
            guard let small = Int32(exactly: number) else {
                throw unacceptable(column, "\(number) is no 32-bit integer")
            }
            sink.append(small)
        case (.identifier(let identifier), .entityNumber):
            sink.append(Int32(schema.mapping(of: identifier.layout)?.number ?? identifier.layout.number))
        case (.object(let object), .url):
            guard let url = object as? NSURL else { throw unacceptable(column, Self.wrongType) }
            sink.append((url as URL).absoluteString)
        case (.object(let object), .decimal):
            guard let number = object as? NSDecimalNumber else { throw unacceptable(column, Self.wrongType) }
            if number == NSDecimalNumber.notANumber { return sink.appendNull() }
            guard let numeric = Numeric(number.description(withLocale: nil)) else {
                throw unacceptable(column, "“\(number)” is not a decimal number")
            }
            sink.append(numeric)
        case (.data(let data), .data), (.data(let data), .transformable):
            guard data.count <= Self.longest else { throw unacceptable(column, Self.tooLong) }
            sink.append(data)
        case (.object(let missing as MissingExternalData), _): throw unacceptable(column, missing.sentence)
        case (.object(let object), .transformable):
            guard let data = TransformableCoding.bytes(of: object, for: column.attribute) else {
                let name = column.attribute?.valueTransformerName ?? ""
                throw unacceptable(column, "the transformer “\(name)” is not known, or cannot archive the value")
            }
            guard data.count <= Self.longest else { throw unacceptable(column, Self.tooLong) }
            sink.append(data)
        default: throw unacceptable(column, Self.wrongType)
        }
    }

    private func write(date seconds: Double, _ column: WrittenColumn, to sink: inout some ValueSink) throws {
        guard seconds.isNaN else { throw unacceptable(column, "PostgreSQL knows the years from 4713 BC to 294276 AD") }
        sink.appendNull()
    }

    /// The most bytes of a value: the server takes less than 2^30 for a row.
    private static let longest = 1_000_000_000
    private static let tooLong = "PostgreSQL keeps no value of more than a gigabyte"
    private static let zero = "PostgreSQL keeps no text with a zero character (U+0000) in it"
    private static let wrongType = "its value is not of the attribute's type"

    private func unacceptable(_ column: WrittenColumn, _ reason: String) -> NSError {
        let property = ([mapping.layout.slots[column.slot].name] + column.path).joined(separator: ".")
        return StoreError.make(
            CoreDataErrorCode.managedObjectValidation,
            "“\(mapping.layout.name).\(property)” cannot be stored: \(reason)" + (reason.hasSuffix(".") ? "" : "."))
    }
}

extension WrittenColumn {
    fileprivate var withoutPath: WrittenColumn {
        WrittenColumn(name: name, slot: slot, kind: kind, attribute: attribute, path: [], orderColumn: orderColumn)
    }
}

extension String {
    /// Whether the text contains a zero character, which the server's texts cannot have.
    @inline(__always)
    var hasZero: Bool {
        var copy = self
        return copy.withUTF8 { utf8 in
            guard let start = utf8.baseAddress else { return false }
            return memchr(start, 0, utf8.count) != nil
        }
    }
}

/// A destination of values: an array, a row of `COPY`, the parameters of a statement.
protocol ValueSink {
    mutating func append(_ value: some BinaryValue)
    mutating func appendNull()
}

extension PostgresArray: ValueSink {}
extension CopyWriter: ValueSink {}
extension CopyRows: ValueSink {}

/// The parameters of a statement, each of the type that its column has.
struct ParameterSink: ValueSink {
    var parameters = PostgresParameters()
    /// The type of the next value, used if that is null.
    var type = PostgresType.unknown

    mutating func append(_ value: some BinaryValue) { parameters.append(value) }
    mutating func appendNull() { parameters.appendNull(type) }
}

/// The content of a column.
package enum ColumnKind: UInt8, Sendable {
    case smallint, integer, bigint, boolean, double, date, string, url, uuid, decimal, data, transformable
    /// The key of a destination.
    case key
    /// The number of a destination's entity.
    case entityNumber

    package init(_ storage: ColumnStorage, _ attribute: AttributeLayout?) {
        switch storage {
        case .integer:
            switch attribute?.type {
            case .integer16AttributeType: self = .smallint
            case .integer32AttributeType: self = .integer
            default: self = .bigint
            }
        case .boolean: self = .boolean
        case .double, .float: self = .double
        case .date: self = .date
        case .decimal: self = .decimal
        case .string: self = .string
        case .url: self = .url
        case .uuid: self = .uuid
        case .data: self = .data
        case .transformable: self = .transformable
        case .toOne: self = .key
        }
    }

    package var type: PostgresType {
        switch self {
        case .smallint: .smallint
        case .integer, .entityNumber: .integer
        case .bigint, .key: .bigint
        case .boolean: .boolean
        case .double: .double
        case .date: .timestamp
        case .string, .url: .text
        case .uuid: .uuid
        case .decimal: .numeric
        case .data, .transformable: .bytes
        }
    }

    /// The type as a table declares it. Texts are ordered by their bytes, as everywhere in Pippin.
    package var declaration: String { type == .text ? "text COLLATE \"C\"" : type.name }
}
