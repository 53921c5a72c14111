import Foundation

/// A folder of its own for the files of one test, removed with its owner.
package final class TestFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A store, for tests that need no more than one.
    package var store: URL { file("store.sqlite") }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Copies one of Apple's stores with its write-ahead log, so that it may be written, and returns the copy. An empty
    /// log, and an index of one, are left out: they belong to another test that is reading the store itself.
    package func copy(_ fixture: String) throws -> URL {
        let source = Fixtures.url(fixture)
        let copy = file(source.lastPathComponent)
        for suffix in ["", "-wal"] {
            let size = try? FileManager.default.attributesOfItem(atPath: source.path + suffix)[.size] as? Int
            guard suffix.isEmpty || (size ?? 0) > 0 else { continue }
            try FileManager.default.copyItem(atPath: source.path + suffix, toPath: copy.path + suffix)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path + suffix)
        }
        return copy
    }
}

/// Runs a test in a folder of its own, which is removed when the test ends.
package func inTestFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = try TestFolder()
    return try withExtendedLifetime(folder) { try body(folder.url) }
}
