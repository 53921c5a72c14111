import Foundation

/// What a source model says of the tools that made it, and of CloudKit: nothing that a model in use has, kept so that
/// writing a file again changes nothing else in it.
package struct SourceHeader: Equatable, Sendable {
    /// Xcode's build of its editor, the system's build, and the oldest Xcode that shall read the file. The first two are
    /// by default those of the files that this format was read from.
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
    /// - Throws: `ModelFileError` where it is no XML.
    package init(contents: Data) throws {
        let root = try SourceElement.root(of: contents)
        lastSavedToolsVersion = root.string("lastSavedToolsVersion")
        systemVersion = root.string("systemVersion")
        minimumToolsVersion = root.string("minimumToolsVersion")
        sourceLanguage = root.string("sourceLanguage")
        usesCloudKit = root.attributes["usedWithCloudKit"] == "YES"
        let synchronized = root.children(named: "configuration").filter { $0.attributes["usedWithCloudKit"] == "YES" }
        cloudKitConfigurations = Set(synchronized.compactMap { $0.string("name") })
    }
}
