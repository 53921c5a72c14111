import CompactCollections
import Foundation
import KeyedArchives
import ModelFiles

/// Writes source models: an `.xcdatamodeld` with a folder per version, or a single `.xcdatamodel`.
package enum SourcePackageWriter {
    /// One version of a model to write.
    package struct Version: Sendable {
        package var name: String
        package var document: ModelDocument
        package var header: SourceHeader

        package init(name: String, document: ModelDocument, header: SourceHeader = SourceHeader()) {
            self.name = name
            self.document = document
            self.header = header
        }
    }

    /// Writes a package, replacing the former one.
    ///
    /// - Parameters:
    ///   - versions: the versions. An `.xcdatamodel` has one.
    ///   - current: the name of the current version.
    ///   - destination: the `.xcdatamodeld` or `.xcdatamodel`.
    /// - Returns: the parts of the models that the files cannot express, preceded by the version's name if there are
    ///   several.
    /// - Throws: an error in the Cocoa domain that names file, entity and property; nothing is written then.
    @discardableResult
    package static func write(
        _ versions: [Version], current: String, to destination: URL
    ) throws -> [SourceLoss] {
        try ModelFileError.naming(destination) {
            let isPackage = try isPackage(destination, versions)
            guard versions.contains(where: { $0.name == current }) else {
                throw ModelFileError(
                    .unwritable, reason: "the current version, “\(current)”, is not one of its versions")
            }
            var files: [String: Data] = [:]
            var losses: [SourceLoss] = []
            for version in versions {
                guard !version.name.isEmpty, !version.name.contains("/"), !version.name.hasPrefix(".") else {
                    throw ModelFileError(.unwritable, reason: "“\(version.name)” is no name for a version's folder")
                }
                let text = try contents(of: version)
                for var loss in try SourceLoss.losses(of: version.document, in: text) {
                    if versions.count > 1 { loss.what += " (version “\(version.name)”)" }
                    losses.append(loss)
                }
                let path = isPackage ? "\(version.name).xcdatamodel/contents" : "contents"
                guard files.updateValue(Data(text.utf8), forKey: path) == nil else {
                    throw ModelFileError(.unwritable, reason: "there are two versions named “\(version.name)”")
                }
            }
            if isPackage { files[".xccurrentversion"] = try Data(currentVersion(current).utf8) }
            try ModelFolder.write(files, to: destination)
            return losses
        }
    }

    private static func isPackage(_ url: URL, _ versions: [Version]) throws -> Bool {
        switch url.pathExtension {
        case "xcdatamodeld": return true
        case "xcdatamodel" where versions.count == 1: return false
        case "xcdatamodel":
            throw ModelFileError(
                .unwritable, reason: "an .xcdatamodel holds one version, not \(versions.count); write an .xcdatamodeld")
        default:
            throw ModelFileError(
                .unwritable, reason: "its extension is “\(url.pathExtension)”; xcdatamodeld or xcdatamodel expected")
        }
    }

    private static func contents(of version: Version) throws -> String {
        try DocumentCheck.check(version.document)
        return try SourceWriter.contents(of: version.document, header: version.header)
    }

    /// The property list `.xccurrentversion`, byte for byte as Xcode writes it.
    package static func currentVersion(_ name: String) throws -> String {
        let escaped: String
        do { escaped = try XMLText.content(name) } catch {
            throw ModelFileError(.unwritable, reason: "the name of the current version: \(error)")
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>_XCCurrentVersionName</key>
            \t<string>\(escaped).xcdatamodel</string>
            </dict>
            </plist>

            """
    }
}
