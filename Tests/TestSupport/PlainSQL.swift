import Foundation
import SQLiteConnection

/// What plain SQL finds in a store: each row's columns joined by a bar, bytes as hexadecimal digits, NULL as nothing.
package func plainSQL(_ sql: String, in store: URL) throws -> [String] {
    try plainSQL(sql, in: Connection(path: store.path, mode: .readOnly))
}

package func plainSQL(_ sql: String, in connection: Connection) throws -> [String] {
    try plainRows(sql, in: connection).map { row in row.map { $0 ?? "" }.joined(separator: "|") }
}

/// The rows that plain SQL finds, where tests tell NULL from an empty text.
package func plainRows(_ sql: String, in store: URL) throws -> [[String?]] {
    try plainRows(sql, in: Connection(path: store.path, mode: .readOnly))
}

private func plainRows(_ sql: String, in connection: Connection) throws -> [[String?]] {
    let statement = try connection.prepare(sql)
    var rows: [[String?]] = []
    while try statement.step() {
        rows.append(
            (0..<Int32(statement.columnCount)).map { column in
                switch statement.kind(at: column) {
                case .null: nil
                case .blob: statement.data(at: column).map { String(format: "%02X", $0) }.joined()
                default: statement.string(at: column)
                }
            })
    }
    return rows
}

/// The number in the first row and column that plain SQL finds, or `nil` where there is none.
package func plainNumber(_ sql: String, in store: URL) throws -> Int64? {
    try Connection(path: store.path, mode: .readOnly).integer(sql)
}

/// The numbers in the first column that plain SQL finds.
package func plainNumbers(_ sql: String, in store: URL) throws -> [Int] {
    let statement = try Connection(path: store.path, mode: .readOnly).prepare(sql)
    var numbers: [Int] = []
    while try statement.step() { numbers.append(Int(statement.integer(at: 0))) }
    return numbers
}

/// Changes a store behind the back of those who have it open.
package func execute(_ sql: String, in store: URL) throws {
    try Connection(path: store.path, mode: .readWrite).execute(sql)
}

/// What has a store in a file, whose content a test asks for by plain SQL.
package protocol StoreFile {
    var file: URL { get }
}

extension StoreFile {
    /// The number in the first row and column.
    package func number(_ sql: String) throws -> Int64? { try plainNumber(sql, in: file) }

    /// The text in the first row and column.
    package func text(_ sql: String) throws -> String? { try plainRows(sql, in: file).first?.first ?? nil }

    /// Each row's columns, joined by a bar.
    package func strings(_ sql: String) throws -> [String] { try plainSQL(sql, in: file) }

    package func execute(_ sql: String) throws { try TestSupport.execute(sql, in: file) }
}
