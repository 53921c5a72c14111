import CoreData
import TestSupport
import Testing

/// The tool of the build plugin knows documents only; programs make classes of them. Both must agree, or stores would
/// be held to be of another version.
@Suite("Compiling a model from its document")
struct DocumentCompilingTests {
    /// Models of this package, and Apple's where they are there.
    static let models: [URL] = {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let own = ["Tests/PluginPackage/Sources/Library/Library", "Tests/PluginPackage/Sources/Check/Stamps"]
        let apples = ["cars/SampleModel", "users/SampleModel3", "bookmarks/BookmarksModel"]
        return own.map { root.appendingPathComponent("\($0).xcdatamodeld") }
            + (Fixtures.areThere ? apples.map { Fixtures.url("\($0).xcdatamodeld") } : [])
    }()

    @Test("A document has the hashes that Core Data's classes have", arguments: models)
    func hashes(url: URL) throws {
        let package = try ModelPackage(at: url)
        for version in package.versions {
            let document = try package.document(version: version.name)
            let model = try package.model(version: version.name)
            #expect(VersionHash.hashes(of: document) == model.entityVersionHashesByName)
        }
    }

    @Test("A document is compiled into the bytes that its classes give", arguments: models)
    func bytes(url: URL) throws {
        let package = try ModelPackage(at: url)
        for version in package.versions {
            let document = try package.document(version: version.name)
            let model = try package.model(version: version.name)
            #expect(try SourceModelCompiler.compiledData(of: document) == SourceModelCompiler.compiledData(of: model))
        }
    }
}
