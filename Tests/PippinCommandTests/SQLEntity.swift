import CoreData
import SQLiteConnection
import TestSupport
import Testing
import SQLGeneration

/// An entity as plain SQL sees it: the table of its root, and its number there.
struct SQLEntity {
    let name: String
    let number: Int
    let table: String

    /// - Parameters:
    ///   - row: number, name and number of the parent, from `Z_PRIMARYKEY`.
    ///   - rows: the same of all entities.
    /// - Throws: when a row has no number.
    init(_ row: [String?], among rows: [[String?]]) throws {
        name = try #require(row[1])
        number = try #require(row[0].flatMap { Int($0) })
        var root = row
        while let parent = rows.first(where: { $0[0] == root[2] }) { root = parent }
        table = "Z" + (try #require(root[1]).uppercased())
    }

    /// Number, name and number of the parent, of the entities of a store's model.
    static func rows(in store: URL) throws -> [[String?]] {
        let rows = try plainRows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000", in: store)
        try #require(!rows.isEmpty)
        return rows
    }

    func count(in store: URL) throws -> Int {
        Int(try #require(try plainNumber("SELECT count(*) FROM \(table) WHERE Z_ENT = \(number)", in: store)))
    }

    /// A row with the columns that it has values in, or NULL.
    struct StoredRow {
        enum Column {
            case null, integer(Int64), real(Double), text(String), blob(Data)
        }

        let key: Int64
        let columns: [String: Column]
        let types: [String: String]
    }

    func rows(in store: URL) throws -> [StoredRow] {
        let connection = try Connection(path: store.path, mode: .readWrite)
        var types: [String: String] = [:]
        let info = try connection.prepare("SELECT name, type FROM pragma_table_info('\(table)')")
        while try info.step() { types[info.string(at: 0)] = info.string(at: 1) }
        let statement = try connection.prepare("SELECT * FROM \(table) WHERE Z_ENT = \(number)")
        var rows: [StoredRow] = []
        while try statement.step() {
            var columns: [String: StoredRow.Column] = [:]
            for index in 0..<Int32(statement.columnCount) {
                columns[statement.columnName(at: index)] =
                    switch statement.kind(at: index) {
                    case .integer: .integer(statement.integer(at: index))
                    case .double: .real(statement.double(at: index))
                    case .text: .text(statement.string(at: index))
                    case .blob: .blob(statement.data(at: index))
                    case .null: .null
                    }
            }
            guard case .integer(let key)? = columns["Z_PK"] else {
                Issue.record("\(table) has a row without a primary key")
                continue
            }
            rows.append(StoredRow(key: key, columns: columns, types: types))
        }
        return rows
    }
}

extension SQLEntity.StoredRow {
    /// Compares the row with an object of the dump; every property that has a column of its name.
    ///
    /// - Returns: how many columns were compared.
    func compare(with object: [String: Any], entity: SQLEntity) throws -> Int {
        var count = 0
        for (name, value) in object where name != "objectID" {
            guard let column = columns["Z" + name.uppercased()] else {
                // To-many relationships have no column.
                #expect(value is [Any], "\(entity.name).\(name)")
                continue
            }
            let isEqual = equals(column, value, isDate: types["Z" + name.uppercased()] == "TIMESTAMP")
            #expect(isEqual, "\(entity.name)/p\(key).\(name): \(value) instead of \(column)")
            count += 1
        }
        return count
    }

    private func equals(_ column: Column, _ value: Any, isDate: Bool) -> Bool {
        switch column {
        case .null: return value is NSNull
        case .text(let text): return value as? String == text
        case .blob(let data):
            guard let text = value as? String else { return false }
            return Data(base64Encoded: text) == data
                || UUID(uuidString: text).map { withUnsafeBytes(of: $0.uuid) { Data($0) } } == data
        case .integer(let number):
            if isDate { return Self.seconds(value) == Double(number) }
            if let uri = value as? String { return uri.hasSuffix("/p\(number)") }
            return (value as? NSNumber)?.int64Value == number
        case .real(let number):
            if isDate { return Self.seconds(value).map { abs($0 - number) < 0.000_001 } ?? false }
            // Decimals are binary fractions in the file, and decimal ones of 15 digits to Core Data.
            guard let value = (value as? NSNumber)?.doubleValue else { return false }
            return value == number || abs(value - number) < 1e-14 * abs(number)
        }
    }

    /// The seconds since 2001 of a date in ISO 8601, read by Foundation.
    private static func seconds(_ value: Any) -> Double? {
        guard let text = value as? String else { return nil }
        let parts = text.dropLast().split(separator: ".")
        let formatter = ISO8601DateFormatter()
        guard let date = parts.first.flatMap({ formatter.date(from: $0 + "Z") }) else { return nil }
        let fraction = parts.count == 2 ? Double("0." + parts[1]) ?? 0 : 0
        return date.timeIntervalSinceReferenceDate + fraction
    }
}
