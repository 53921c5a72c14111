import Foundation

/// The models and stores that Apple's tools made. They are not part of the project: where they are absent, the tests
/// that need them are skipped.
package enum Fixtures {
    /// `PIPPIN_FIXTURES`, or `../shared/fixtures` beside the package.
    package static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["PIPPIN_FIXTURES"] { return URL(fileURLWithPath: path) }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { package.deleteLastPathComponent() }
        // Commands name a store by its real path.
        return package.deletingLastPathComponent().appendingPathComponent("shared/fixtures").resolvingSymlinksInPath()
    }()

    package static var areThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    package static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }
}
