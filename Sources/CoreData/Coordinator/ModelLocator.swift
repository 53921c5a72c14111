import CompactCollections
import Foundation
import Ordering

/// Finds compiled models by name, in the main bundle and in the resource bundles that SwiftPM puts beside the program.
package enum ModelLocator {
    /// The URL of `<name>.momd`, or else of `<name>.mom`.
    package static func url(forModelNamed name: String) -> URL? {
        for directory in searchedDirectories() {
            for fileExtension in ["momd", "mom"] {
                let url = directory.appendingPathComponent("\(name).\(fileExtension)")
                if FileManager.default.fileExists(atPath: url.path) { return url }
            }
        }
        return nil
    }

    /// The directories that are searched, in order.
    package static func searchedDirectories() -> [URL] {
        var directories: [URL] = []
        for bundle in [Bundle.main] + Bundle.allBundles {
            if let url = bundle.resourceURL { directories.append(url) }
            directories.append(bundle.bundleURL)
        }
        var seen: Set<String> = []
        let bases = directories.filter { seen.insert($0.standardizedFileURL.path).inserted }
        let resources = bases.flatMap { base in
            ((try? FileManager.default.contentsOfDirectory(at: base, includingPropertiesForKeys: nil)) ?? [])
                .filter { ["resources", "bundle"].contains($0.pathExtension) }
                .ordered { $0.path < $1.path }
        }
        return bases + resources
    }
}
