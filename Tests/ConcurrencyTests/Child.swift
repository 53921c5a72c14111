import Foundation
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
