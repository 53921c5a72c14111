import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// Runs a statement that a person wrote, in a transaction that only reads.
    func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (any CurrentRow) throws -> Bool
    ) throws {
        let rendered = try sql.fragment(schema) { $0 }.postgres
        guard rendered.text.beginsLikeQuery else {
            throw sql.error("only one query is run here, which changes nothing", in: rendered.text)
        }
        let parameters: PostgresParameters
        do {
            parameters = try ParameterBinder.parameters(rendered.bindings, BindingContext(store: identity))
        } catch is Inexact {
            throw sql.error(
                "a value is none that PostgreSQL takes, such as a text with a zero character", in: rendered.text)
        }
        let result: PostgresResult = try reading("read from") {
            do { return try readingOnly { try connection.query(rendered.text, parameters) } } catch let error
                as PostgresError where !error.isConnectionFailure && connection.isUsable
            {
                throw sql.error(
                    error.isReadOnly ? "only one query is run here, which changes nothing" : error.message,
                    in: rendered.text, at: error.position.map { $0 - 1 }, underlying: error)
            }
        }
        let names = (0..<result.columnCount).map(result.columnName)
        let kinds = try names.indices.map { index in
            let number = result.typeNumber(index)
            if let kind = UnmodeledColumn(number) { return kind }
            throw sql.error(
                "the column “\(names[index])” is of a type that is not read (number \(number)); cast it, as in (…)::text",
                in: rendered.text)
        }
        try columns(names)
        guard result.count > 0, let layout = schema.layout.entities.first else { return }
        let current = WrittenRow(result, kinds, NSManagedObjectID(layout: layout, store: identity, key: 0))
        for place in 0..<result.count {
            current.place = place
            guard try row(current) else { return }
        }
    }

    /// Runs a statement in a transaction in which the server refuses to write; within another transaction, in a part of
    /// it that is taken back.
    private func readingOnly<Result>(_ body: () throws -> Result) throws -> Result {
        guard connection.isInTransaction else { return try snapshot(body) }
        try connection.execute("SAVEPOINT pippin_sql; SET LOCAL transaction_read_only = on")
        let end = "ROLLBACK TO SAVEPOINT pippin_sql; RELEASE SAVEPOINT pippin_sql"
        let result: Result
        do { result = try body() } catch {
            if connection.isUsable { try? connection.execute(end) }
            throw error
        }
        try connection.execute(end)
        return result
    }
}

/// A row of a statement that a person wrote; its slots are the columns.
private final class WrittenRow: CurrentRow {
    private let result: PostgresResult
    private let kinds: [UnmodeledColumn]
    /// Of no object.
    let objectID: NSManagedObjectID
    var place = 0

    init(_ result: PostgresResult, _ kinds: [UnmodeledColumn], _ objectID: NSManagedObjectID) {
        (self.result, self.kinds, self.objectID) = (result, kinds, objectID)
    }

    func value(at slot: Int) -> StoredValue {
        result.isNull(place, slot) ? .null : kinds[slot].value(result, place, slot)
    }

    func whole() -> Row {
        Row(objectID: objectID, version: 0, values: ContiguousArray(kinds.indices.map(value)))
    }

    func isNull(at slot: Int) -> Bool { result.isNull(place, slot) }
    func string(at slot: Int) -> String? { if case .string(let text) = value(at: slot) { text } else { nil } }
    func integer(at slot: Int) -> Int64? { if case .integer(let number) = value(at: slot) { number } else { nil } }
    func date(at slot: Int) -> Double? { if case .date(let seconds) = value(at: slot) { seconds } else { nil } }
    func uuid(at slot: Int) -> UUID? { if case .uuid(let uuid) = value(at: slot) { uuid } else { nil } }

    func double(at slot: Int) -> Double? {
        switch value(at: slot) {
        case .double(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }

    func text(at slot: Int) -> String? {
        switch value(at: slot) {
        case .string(let text): text
        case .object(let number as NSDecimalNumber): number.stringValue
        default: nil
        }
    }
}

extension String {
    /// Whether a statement begins like one that returns rows. Comments may come first.
    fileprivate var beginsLikeQuery: Bool {
        var rest = Substring(self)
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "(" }
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*"), let end = rest.range(of: "*/") {
                rest = rest[end.upperBound...]
            } else {
                break
            }
        }
        return ["select", "with", "values", "table"].contains(rest.prefix { $0.isLetter }.lowercased())
    }
}

/// How values of a column are read that no model describes.
private enum UnmodeledColumn {
    case integer, double, text, bytes, uuid, numeric, timestamp, day, json

    /// - Parameter number: the number that PostgreSQL has for the type.
    init?(_ number: UInt32) {
        switch number {
        case 16, 20, 21, 23, 26: self = .integer
        case 700, 701: self = .double
        // Text, its limited forms, names, unknown literals, JSON as text.
        case 25, 1042, 1043, 19, 705, 114: self = .text
        case 17: self = .bytes
        case 2950: self = .uuid
        case 1700: self = .numeric
        case 1184, 1114: self = .timestamp
        case 1082: self = .day
        case 3802: self = .json
        default: return nil
        }
    }

    func value(_ result: PostgresResult, _ row: Int, _ column: Int) -> StoredValue {
        switch self {
        case .integer: return .integer(result.integer(row, column))
        case .double: return .double(result.double(row, column))
        case .text: return .string(result.string(row, column))
        case .bytes: return .data(result.data(row, column))
        case .uuid: return result.uuid(row, column).map(StoredValue.uuid) ?? .null
        case .numeric:
            guard let numeric = result.numeric(row, column) else { return .null }
            return numeric.isSpecial ? .double(.nan) : .object(NSDecimalNumber(string: numeric.text))
        case .timestamp: return .date(result.timestamp(row, column).secondsSince2001)
        // Days since 2000, which was a leap year.
        case .day: return .date(Double(result.integer(row, column) - 366) * 86_400)
        // After a byte with the version of the format.
        case .json: return .string(String(decoding: result.raw(row, column).dropFirst(), as: UTF8.self))
        }
    }
}
