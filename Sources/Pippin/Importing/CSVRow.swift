import Foundation

/// A record of a CSV file, by its header, with as many fields as that.
///
/// `author.name` is the column of a property within a property.
struct CSVRow {
    let dateStyle: CSVDates
    private let columns: CSVColumns
    private let record: CSVRecords.Line

    init(_ columns: CSVColumns, _ record: CSVRecords.Line, dates: CSVDates) {
        dateStyle = dates
        self.columns = columns
        self.record = record
    }

    /// The text in a column; nil for an empty field, and without such a column.
    subscript(column: String) -> String? {
        guard let place = columns.places[column], !record.fields[place].isEmpty else { return nil }
        return record.fields[place]
    }

    /// The names of the columns that have a text.
    var filled: [String] { columns.names.filter { self[$0] != nil } }

    /// Whether there is a value in a column, or in one within it.
    func has(_ column: String) -> Bool {
        self[column] != nil || columns.inner[column]?.contains { self[$0] != nil } ?? false
    }

    /// Whether a column has an empty text in quotes: a value for a `String`, and no value for any other type.
    func hasEmptyText(_ column: String) -> Bool {
        !record.emptyTexts.isEmpty && columns.places[column].map(record.emptyTexts.contains) ?? false
    }

    /// Whether there are columns within a column.
    func hasColumns(within column: String) -> Bool { columns.inner[column] != nil }

    /// Whether an empty text in quotes is in a column within a column.
    func hasEmptyText(within column: String) -> Bool { columns.inner[column]?.contains { hasEmptyText($0) } ?? false }

    func value<Value: Decodable>(_ type: Value.Type, _ column: String, _ path: [any CodingKey]) throws -> Value {
        let row = CSVDecoder(row: self, column: column, codingPath: path)
        guard let text = self[column] else { return try Value(from: row) }
        if let value = try leaf(type, text, path) { return value }
        // A list or an object has no columns of its own; one column may have it as JSON.
        if text.first == "[" || text.first == "{" {
            do { return try decoder().decode(type, from: Data(text.utf8)) } catch {
                throw (error as? DecodingError)?.below(path) ?? error
            }
        }
        return try Value(from: row)
    }

    /// A decoder of JSON in a column, which reads dates as columns of their own do.
    private func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { [dateStyle] decoder in
            let value = try decoder.singleValueContainer()
            let text: String
            if let string = try? value.decode(String.self) {
                text = string
            } else if let number = try? value.decode(Int64.self) {
                text = "\(number)"
            } else {
                text = "\(try value.decode(Double.self))"
            }
            if let date = dateStyle.date(text) { return date }
            throw Self.refusal(text, dateStyle.expectation, decoder.codingPath)
        }
        return decoder
    }

    private func text<Value>(_ type: Value.Type, _ column: String, _ path: [any CodingKey]) throws -> String {
        guard let text = self[column] else {
            throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: "The field is empty."))
        }
        return text
    }

    /// A value of a type that a text can represent.
    ///
    /// - Returns: nil for other types.
    private func leaf<Value>(_ type: Value.Type, _ text: String, _ path: [any CodingKey]) throws -> Value? {
        let (value, expectation): (Any?, String) =
            switch type {
            case is String.Type: (text, "a text")
            case is UUID.Type: (UUID(uuidString: text), "a UUID such as E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            case is URL.Type: (CSVValues.url(text), "a URL, without spaces")
            case is Decimal.Type: (CSVValues.decimal(text), "a number such as 12.50, of 38 digits at most")
            case is Data.Type: (Data(base64Encoded: text), "bytes in Base64")
            case is Date.Type: (dateStyle.date(text), dateStyle.expectation)
            default: (nil, "")
            }
        if expectation.isEmpty { return nil }
        if let value = value as? Value { return value }
        throw Self.refusal(text, expectation, path)
    }

    func string(_ column: String, _ path: [any CodingKey]) throws -> String {
        if self[column] == nil, hasEmptyText(column) { return "" }
        return try text(String.self, column, path)
    }

    func integer<Value: FixedWidthInteger>(_ column: String, _ path: [any CodingKey]) throws -> Value {
        let text = try text(Value.self, column, path)
        if let value: Value = CSVValues.integer(text) { return value }
        throw Self.refusal(text, "a whole number from \(Value.min) to \(Value.max)", path)
    }

    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        _ column: String, _ path: [any CodingKey]
    ) throws -> Value {
        let text = try text(Value.self, column, path)
        if let value: Value = CSVValues.floating(text) { return value }
        throw Self.refusal(text, "a number such as 12.5 that a \(Value.self) holds", path)
    }

    func boolean(_ column: String, _ path: [any CodingKey]) throws -> Bool {
        let text = try text(Bool.self, column, path)
        switch text.lowercased() {
        case "true", "yes", "1": return true
        case "false", "no", "0": return false
        default: throw Self.refusal(text, "true or false (or yes, no, 1, 0)", path)
        }
    }

    private static func refusal(_ text: String, _ expectation: String, _ path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(
            .init(codingPath: path, debugDescription: "“\(text.quotable)” is not what is expected: \(expectation)."))
    }
}

extension DecodingError {
    /// The error with its path put after the path of the value that contains it.
    fileprivate func below(_ path: [any CodingKey]) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: path + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}

/// The header of a CSV file: the names of its columns, checked against the model.
struct CSVColumns {
    let names: [String]
    /// The places of the columns that count, by name.
    let places: [String: Int]
    /// The columns of properties within a property, by that one's name: those of `author` are `author.name` and
    /// `author.address.city`.
    let inner: [String: [String]]
    /// How deep properties may be within each other. The name is noted for each level.
    private static let mostLevels = 100

    /// - Parameters:
    ///   - header: the file's first record.
    ///   - plan: the model's properties.
    ///   - registry: the models that are known.
    ///   - ignored: the columns to leave out, which the model need not have.
    ///   - path: the file's path, for errors.
    /// - Throws: ``PersistenceError/Code/fileNotReadable`` for a header that cannot be read, and for a duplicate
    ///   column; ``PersistenceError/Code/unknownColumns``.
    init(
        _ header: CSVRecords.Line, of plan: EntityPlan, in registry: ModelRegistry, ignoring ignored: Set<String>,
        path: String
    ) throws {
        if let problem = header.problem {
            throw PersistenceError.fileNotReadable(
                path: path, reason: "Line \(header.number), field \(problem.field + 1): \(problem.reason).")
        }
        names = header.fields
        places = Dictionary(
            names.enumerated().filter { !ignored.contains($1) }.map { ($1, $0) },
            uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        if let double = names.first(where: { !seen.insert($0).inserted && !ignored.contains($0) }) {
            throw PersistenceError.fileNotReadable(path: path, reason: "It has the column “\(double)” twice.")
        }
        var unknown: [String] = []
        var inner: [String: [String]] = [:]
        for name in names where !ignored.contains(name) {
            let keys = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard try keys.count <= Self.mostLevels && Self.isKnown(keys[...], plan.record, registry) else {
                unknown.append(name)
                continue
            }
            for dot in name.indices where name[dot] == "." { inner[String(name[..<dot]), default: []].append(name) }
        }
        self.inner = inner
        if !unknown.isEmpty {
            throw PersistenceError.unknownColumns(unknown, type: plan.record.name, known: Array(plan.record.keys))
        }
    }

    /// Whether a column belongs to the record: as a property, or as a property of a record within it.
    private static func isKnown(_ keys: ArraySlice<String>, _ record: RecordPlan, _ registry: ModelRegistry) throws
        -> Bool
    {
        guard let key = keys.first, let field = record.fields.first(where: { $0.key == key }) else { return false }
        let rest = keys.dropFirst()
        if rest.isEmpty { return true }
        switch field.kind {
        case .composite(let inner): return try isKnown(rest, inner, registry)
        // A value stored as JSON has keys that no plan knows.
        case .json: return true
        case .toOne(let model): return try !model.isReference && isKnown(rest, registry.plan(model).record, registry)
        case .attribute, .toMany: return false
        }
    }
}
