import Foundation

@testable import SQLiteConnection

/// A folder of its own for one test, removed afterwards.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("sqlite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String = "test.sqlite") -> String { url.appendingPathComponent(name).path }
}

/// The first column of every row.
func texts(_ sql: String, in connection: Connection) throws -> [String] {
    let statement = try connection.prepare(sql)
    var result: [String] = []
    while try statement.step() { result.append(statement.string(at: 0)) }
    return result
}
