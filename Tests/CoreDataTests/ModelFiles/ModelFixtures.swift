import CoreData
import SQLiteConnection
import Testing

/// The models and stores that Apple's tools made. They are not part of the project: where they are absent, the tests
/// that need them are skipped.
enum ModelFixtures {
    /// `PIPPIN_FIXTURES`, or `../shared/fixtures` beside the package.
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["PIPPIN_FIXTURES"] { return URL(fileURLWithPath: path) }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { package.deleteLastPathComponent() }
        return package.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    }()

    static var areThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static let skipped: Comment = "Apple's models and stores (PIPPIN_FIXTURES) are not there"

    static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

    /// Every version of every source model: the package and the version's name.
    static let sourceVersions = versions(in: [
        "cars/SampleModel.xcdatamodeld", "users/SampleModel3.xcdatamodeld", "bookmarks/BookmarksModel.xcdatamodeld",
    ])

    /// Every version of every compiled model.
    static let compiledVersions = versions(in: ["cars/SampleModel.momd", "users/SampleModel3.momd"])

    static let stores = [
        "cars/SampleModel_V1.sqlite", "users/SampleModel3_V1.sqlite", "books/SampleModel2_V1.sqlite",
        "bookmarks/Bookmarks_V1.sqlite", "bookmarks/Bookmarks_V3.sqlite",
    ]

    private static func versions(in paths: [String]) -> [String] {
        paths.flatMap { path in
            ((try? ModelPackage(at: url(path)))?.versions ?? []).map { "\(path) \($0.name)" }
        }
    }

    /// A version by its entry in the lists above.
    static func package(_ entry: String) throws -> (package: ModelPackage, version: String) {
        let space = try #require(entry.firstIndex(of: " "))
        return (try ModelPackage(at: url(String(entry[..<space]))), String(entry[entry.index(after: space)...]))
    }

    /// The model cache of a store, read by plain SQL from a copy.
    static func modelCache(of store: String) throws -> Data {
        try inTemporaryFolder { folder in
            let copy = folder.appendingPathComponent("store.sqlite")
            try FileManager.default.copyItem(at: url(store), to: copy)
            let wal = url(store).path + "-wal"
            if FileManager.default.fileExists(atPath: wal) {
                try FileManager.default.copyItem(atPath: wal, toPath: copy.path + "-wal")
            }
            let connection = try Connection(path: copy.path, mode: .readWrite)
            let statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
            _ = try statement.step()
            return statement.data(at: 0)
        }
    }

    static func inTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}
