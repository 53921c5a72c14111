import StoreSession

/// Decodes a row of a statement: a type with properties by the names of the columns, any other one from the only
/// column.
final class SQLRowDecoder: Decoder {
    let columns: SQLColumns
    /// The row that is handed out right now.
    fileprivate let row: any CurrentRow
    /// The column after the one that was asked for last: a type mostly asks for its columns in their order.
    private var cursor = 0

    init(_ columns: SQLColumns, _ row: any CurrentRow) { (self.columns, self.row) = (columns, row) }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SQLKeyedContainer(row: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw PersistenceError(
            .unreadable, "A row of SQL is decoded by the names of its columns, not as a list. Use a struct.")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try SQLValueDecoder(only(), columns.first)
    }

    /// The column of a name; nil for none.
    fileprivate func place(_ name: String) -> Int? {
        if cursor < columns.names.count, columns.names[cursor] == name {
            defer { cursor += 1 }
            return cursor
        }
        let place = columns.place(name)
        if let place { cursor = place + 1 }
        return place
    }

    /// Begins another row.
    func beginRow() { cursor = 0 }

    /// The value of a row with one column.
    func only() throws -> StoredValue {
        guard columns.names.count == 1 else {
            throw PersistenceError(
                .unreadable, known: columns.names,
                "The statement has \(columns.names.count) columns (\(columns.list)), and one value was to be read. Use a struct."
            )
        }
        return try row.value(at: 0)
    }
}

/// The columns of a statement, by their names.
struct SQLColumns {
    let names: [String]
    private let places: [String: Int]
    /// The same in small letters, as databases may spell them.
    private let folded: [String: Int]

    init(_ names: [String]) {
        self.names = names
        places = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
        folded = Dictionary(names.enumerated().map { ($1.lowercased(), $0) }) { first, _ in first }
    }

    var first: String { names.first ?? "" }
    var list: String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    func place(_ name: String) -> Int? { places[name] ?? folded[name.lowercased()] }
}

private struct SQLKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: SQLRowDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columns.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row.columns.place(key.stringValue) != nil }

    private func place(_ key: Key) throws -> Int {
        if let place = row.place(key.stringValue) { return place }
        throw PersistenceError(
            .unreadable, property: key.stringValue, known: row.columns.names,
            "The statement has no column “\(key.stringValue)”; it has \(row.columns.list). Name it with AS.")
    }

    private func value(_ place: Int, _ key: Key) throws -> SQLValueDecoder {
        SQLValueDecoder(try row.row.value(at: place), key.stringValue)
    }

    func decodeNil(forKey key: Key) throws -> Bool { row.row.isNull(at: try place(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try value(place(key), key).decode(type)
    }

    // What the row has as such; for anything else, the value is looked at.

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let place = try place(key)
        return try row.row.string(at: place) ?? value(place, key).decode(type)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        let place = try place(key)
        if let number = row.row.integer(at: place), let fitting = Int(exactly: number) { return fitting }
        return try value(place, key).decode(type)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let place = try place(key)
        return try row.row.double(at: place) ?? value(place, key).decode(type)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let place = row.place(key.stringValue), !row.row.isNull(at: place) else { return nil }
        return try row.row.string(at: place) ?? value(place, key).decode(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let place = row.place(key.stringValue), !row.row.isNull(at: place) else { return nil }
        return try value(place, key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw nested(key) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw nested(key) }
    func superDecoder() throws -> any Decoder { row }
    func superDecoder(forKey key: Key) throws -> any Decoder { try value(place(key), key) }

    private func nested(_ key: Key) -> PersistenceError {
        PersistenceError(
            .unreadable, property: key.stringValue,
            "The column “\(key.stringValue)” has a single value, and a structure was to be read from it.")
    }
}

/// Decodes the value of a column, in whichever of the forms databases have for it.
struct SQLValueDecoder: Decoder, SingleValueDecodingContainer {
    private let value: StoredValue
    private let column: String

    init(_ value: StoredValue, _ column: String) { (self.value, self.column) = (value, column) }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw unreadable("a structure")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unreadable("a list") }

    private func unreadable(_ what: Any) -> PersistenceError {
        let found: String =
            switch value {
            case .null: "has no value here"
            case .integer(let number): "is the number \(number)"
            case .double(let number): "is the number \(number)"
            case .string(let text): "is the text “\(text.prefix(40))”"
            default: "is another value"
            }
        return PersistenceError(
            .unreadable, property: column, "The column “\(column)” \(found), and \(what) was to be read from it.")
    }

    func decodeNil() -> Bool { value.isNull }

    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        switch value {
        case .integer(let number): if let fitting = Number(exactly: number) { return fitting }
        case .double(let number): if let fitting = Number(exactly: number) { return fitting }
        case .object(let number as NSDecimalNumber):
            if let fitting = Number(number.description(withLocale: nil)) { return fitting }
        default: break
        }
        throw unreadable(type)
    }

    func decode(_ type: Bool.Type) throws -> Bool { try integer(Int.self) != 0 }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .integer(let number): return Double(number)
        case .double(let number): return number
        case .object(let number as NSDecimalNumber): return number.nearestDouble
        default: throw unreadable(type)
        }
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let text) = value else { throw unreadable(type) }
        return text
    }

    func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted {
        let leaf: Any? =
            switch ObjectIdentifier(type) {
            case ObjectIdentifier(Date.self): date
            case ObjectIdentifier(UUID.self): uuid
            case ObjectIdentifier(Decimal.self): decimal
            case ObjectIdentifier(URL.self): url
            case ObjectIdentifier(Data.self): data
            default: nil
            }
        if let leaf = leaf as? Wanted { return leaf }
        if AttributeKind(of: type) != nil { throw unreadable(type) }
        return try Wanted(from: self)
    }

    /// A date, which SQLite keeps as seconds since 2001; its functions give texts in UTC.
    private var date: Date? {
        switch value {
        case .date(let seconds), .double(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .integer(let seconds): return Date(timeIntervalSinceReferenceDate: Double(seconds))
        case .string(let text):
            for format in ["yyyy-MM-dd HH:mm:ss.SSS", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd"] {
                let formatter = DateFormatter()
                formatter.locale = Locale(identifier: "en_US_POSIX")
                formatter.timeZone = TimeZone(secondsFromGMT: 0)
                formatter.dateFormat = format
                if let date = formatter.date(from: text) { return date }
            }
            return nil
        default: return nil
        }
    }

    private var uuid: UUID? {
        switch value {
        case .uuid(let uuid): uuid
        case .data(let data) where data.count == 16:
            UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        case .string(let text): UUID(uuidString: text)
        default: nil
        }
    }

    private var decimal: Decimal? {
        switch value {
        case .integer(let number): Decimal(number)
        case .double(let number): Decimal(string: "\(number)", locale: Locale(identifier: "en_US_POSIX"))
        case .object(let number as NSDecimalNumber): number.decimalValue
        case .string(let text): Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        default: nil
        }
    }

    private var url: URL? {
        switch value {
        case .string(let text): URL(string: text)
        case .object(let url as NSURL): url as URL
        default: nil
        }
    }

    private var data: Data? { if case .data(let data) = value { data } else { nil } }
}
