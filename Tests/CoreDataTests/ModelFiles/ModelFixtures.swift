import CoreData
import SQLiteConnection
import TestSupport
import Testing

/// The models that Apple's tools made, and those in their stores.
enum ModelFixtures {
    static let skipped: Comment = "Apple's models and stores (PIPPIN_FIXTURES) are not there"

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
            ((try? ModelPackage(at: Fixtures.url(path)))?.versions ?? []).map { "\(path) \($0.name)" }
        }
    }

    /// A version by its entry in the lists above.
    static func package(_ entry: String) throws -> (package: ModelPackage, version: String) {
        let space = try #require(entry.firstIndex(of: " "))
        return (
            try ModelPackage(at: Fixtures.url(String(entry[..<space]))), String(entry[entry.index(after: space)...])
        )
    }

    /// The model cache of a store, read by plain SQL from a copy.
    static func modelCache(of store: String) throws -> Data {
        let folder = try TestFolder()
        let connection = try Connection(path: folder.copy(store).path, mode: .readWrite)
        let statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        _ = try statement.step()
        return statement.data(at: 0)
    }
}
