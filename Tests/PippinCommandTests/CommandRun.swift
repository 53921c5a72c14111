import CoreData
import TestSupport
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

    /// The entities' objects of `dump --json`, which must have succeeded.
    func objects() throws -> [String: [[String: Any]]] {
        try #require(status == 0, "\(errors)")
        let document = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return try #require(document?["objects"] as? [String: [[String: Any]]])
    }
}

/// Apple-made stores, which are not part of the project: copied into a folder of its own before a test touches one.
enum StoreFixtures {
    static let skipped: Comment = "Apple's stores (PIPPIN_FIXTURES) are not there"

    static let stores = [
        "cars/SampleModel_V1.sqlite", "users/SampleModel3_V1.sqlite", "books/SampleModel2_V1.sqlite",
        "bookmarks/Bookmarks_V1.sqlite", "bookmarks/Bookmarks_V3.sqlite", "knowledge/knowledgec-10.13.sqlite",
    ]

    static func path(_ name: String) -> String { Fixtures.url(name).path }

    /// Runs a test on a copy of a store, with its write-ahead log, that may be written.
    static func withCopy<Result>(of name: String, _ body: (URL) throws -> Result) throws -> Result {
        let folder = try TestFolder()
        return try withExtendedLifetime(folder) { try body(folder.copy(name)) }
    }
}
