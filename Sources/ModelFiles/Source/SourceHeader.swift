import CompactCollections
import Foundation

/// The information in a source model about the tools that made it, and about CloudKit. A model in use has none of it;
/// it is kept so that writing a file again does not change it.
package struct SourceHeader: Equatable, Sendable {
    /// Xcode's build of its editor, the system's build, and the oldest Xcode that may read the file. The first two
    /// default to those of the files from which the format is known.
    package var lastSavedToolsVersion: String? = "22758"
    package var systemVersion: String? = "23E224"
    package var minimumToolsVersion: String? = "Automatic"
    package var sourceLanguage: String? = "Swift"
    package var usesCloudKit = false
    /// The configurations that are synchronized.
    package var cloudKitConfigurations: Set<String> = []

    package init() {}

    /// The header of a file.
    ///
    /// - Throws: `ModelFileError` if it is not XML.
    package init(contents: Data) throws {
        let root = try SourceElement.root(of: contents)
        lastSavedToolsVersion = root.string("lastSavedToolsVersion")
        systemVersion = root.string("systemVersion")
        minimumToolsVersion = root.string("minimumToolsVersion")
        sourceLanguage = root.string("sourceLanguage")
        usesCloudKit = root.isUsedWithCloudKit
        let synchronized = root.children(named: "configuration").filter(\.isUsedWithCloudKit)
        cloudKitConfigurations = Set(synchronized.compactMap { $0.string("name") })
    }
}

extension SourceElement {
    fileprivate var isUsedWithCloudKit: Bool { string("usedWithCloudKit").flatMap(Self.boolean) ?? false }
}
