import Foundation
import SQLiteConnection
import Testing

/// A `ConcurrencyChild`, in a process of its own.
final class Child {
    let process = Process()
    private let (output, errors) = (Pipe(), Pipe())

    init(_ verb: String, _ store: URL, _ number: Int) throws {
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("ConcurrencyChild")
        process.arguments = [verb, store.path, "\(number)"]
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Reads a line or more of what it says; empty when it has ended.
    func hear() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

    /// Waits until it ends.
    ///
    /// - Returns: the lines that it said and were not heard yet, and what it complained of.
    func wait() -> (lines: [String], complaint: String, status: Int32) {
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (said.split(separator: "\n").map(String.init), complaint, process.terminationStatus)
    }
}

/// A folder of its own for the stores of one test, removed afterwards.
final class Folder {
    let url: URL
    var store: URL { url.appendingPathComponent("store.sqlite") }

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("concurrency-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// What plain SQL finds: each row's first column as an integer.
func integers(_ sql: String, in url: URL) throws -> [Int] {
    let statement = try Connection(path: url.path, mode: .readOnly).prepare(sql)
    var rows: [Int] = []
    while try statement.step() { rows.append(Int(statement.integer(at: 0))) }
    return rows
}
