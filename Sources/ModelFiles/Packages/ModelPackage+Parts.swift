import Foundation

extension ModelPackage {
    private static let extensions: Set<String> = ["momd", "mom", "omo", "xcdatamodeld", "xcdatamodel"]

    /// The model that a path names, or in which it names a file, by the extensions in the path; nil for none.
    package static func model(around url: URL) -> URL? {
        var current = url.standardizedFileURL
        // A package has versions, and these have files.
        for _ in 0..<3 {
            if extensions.contains(current.pathExtension) { return current }
            current = current.deletingLastPathComponent()
        }
        return nil
    }
}
