import CoreData
import SQLiteConnection
import Testing

@testable import PippinCommand

/// One run of the command: what it wrote, and its exit status.
struct CommandRun {
    let status: Int32
    let output: String
    let errors: String

    init(_ arguments: String...) { self.init(arguments: arguments) }

    init(arguments: [String]) {
        var output = ""
        var errors = ""
        status = PippinCommand.run(arguments, output: { output += $0 }, errors: { errors += $0 })
        self.output = output
        self.errors = errors
    }

    /// The entities' objects of `dump --json`.
    func objects() throws -> [String: [[String: Any]]] {
        let document = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return try #require(document?["objects"] as? [String: [[String: Any]]])
    }
}

/// Apple-made stores, which are no part of the project: copied into a folder of its own before a test touches one.
enum StoreFixtures {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["PIPPIN_FIXTURES"] { return URL(fileURLWithPath: path) }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { package.deleteLastPathComponent() }
        return package.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    }()

    static var areThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static let skipped: Comment = "Apple's stores (PIPPIN_FIXTURES) are not there"

    static let stores = [
        "cars/SampleModel_V1.sqlite", "users/SampleModel3_V1.sqlite", "books/SampleModel2_V1.sqlite",
        "bookmarks/Bookmarks_V1.sqlite", "bookmarks/Bookmarks_V3.sqlite", "knowledge/knowledgec-10.13.sqlite",
    ]

    static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    static func inTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// Runs a test on a copy of a store, with its write-ahead log, that may be written.
    static func withCopy<Result>(of name: String, _ body: (URL) throws -> Result) throws -> Result {
        try inTemporaryFolder { folder in
            let copy = folder.appendingPathComponent(URL(fileURLWithPath: name).lastPathComponent)
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path(name) + suffix) {
                try FileManager.default.copyItem(atPath: path(name) + suffix, toPath: copy.path + suffix)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path + suffix)
            }
            return try body(copy)
        }
    }

    /// The rows of a query, as texts; NULL is nil.
    static func rows(_ sql: String, in store: URL) throws -> [[String?]] {
        let connection = try Connection(path: store.path, mode: .readWrite)
        let statement = try connection.prepare(sql)
        var rows: [[String?]] = []
        while try statement.step() {
            rows.append(
                (0..<Int32(statement.columnCount)).map { statement.isNull(at: $0) ? nil : statement.string(at: $0) })
        }
        return rows
    }
}
