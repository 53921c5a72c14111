import Foundation
import Synchronization

/// A model file with all its versions, in any form: a compiled `.momd` or `.mom`, or a source `.xcdatamodeld` or
/// `.xcdatamodel`.
package struct ModelPackage: Sendable {
    /// One version of the model.
    package struct Version: Sendable {
        package let name: String
        package let url: URL
    }

    package let url: URL
    /// The versions, sorted by name.
    package let versions: [Version]
    /// The name of the current version, or why it is not known.
    private let current: Result<String, any Error>
    /// The package's information about its versions; empty for source files and single versions.
    package let info: VersionInfo

    /// Finds the versions of a model file; none of them is read yet.
    ///
    /// - Throws: an error in the Cocoa domain that names the file: it is missing, of another kind, or has no versions.
    package init(at url: URL) throws {
        self = try ModelFileError.naming(url) { try Self.finding(url) }
    }

    private init(url: URL, versions: [Version], current: Result<String, any Error>, info: VersionInfo) {
        self.url = url
        self.versions = versions
        self.current = current
        self.info = info
    }

    /// The name of the current version. The other versions can be read where it is not known.
    ///
    /// - Throws: an error in the Cocoa domain that names the file: it does not say which version is current, or that
    ///   version does not exist.
    package var currentVersionName: String { get throws { try current.get() } }

    /// Whether a version is the current one; false for all where that is not known.
    package func isCurrent(_ name: String) -> Bool { (try? current.get()) == name }

    private static func finding(_ url: URL) throws -> ModelPackage {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelFileError(.missing, reason: "there is no such file")
        }
        let name = url.deletingPathExtension().lastPathComponent
        switch url.pathExtension {
        case "omo":
            // Apple's optimized form contains nothing that the .mom beside it does not.
            let compiled = url.deletingPathExtension().appendingPathExtension("mom")
            guard FileManager.default.fileExists(atPath: compiled.path) else {
                throw ModelFileError(
                    .missing,
                    reason:
                        "it is Apple's own form of “\(compiled.lastPathComponent)”, which should lie beside it and does "
                        + "not; an .omo alone cannot be read")
            }
            return try finding(compiled)
        case "mom", "xcdatamodel":
            let info = try versionInfo(beside: url)
            return ModelPackage(
                url: url, versions: [Version(name: name, url: url)], current: .success(name), info: info)
        case "momd": return try compiledPackage(url)
        case "xcdatamodeld":
            return try package(url, versionExtension: "xcdatamodel", info: VersionInfo()) {
                try currentVersion(ofSource: url)
            }
        default:
            // Swift packages, whose resources Xcode's tools would compile anew, have compiled models under other names.
            if isDirectory.boolValue, let package = try? compiledPackage(url) { return package }
            throw ModelFileError(
                .corrupt,
                reason: "its extension is “\(url.pathExtension)”; momd, mom, xcdatamodeld or xcdatamodel expected")
        }
    }

    private static func compiledPackage(_ url: URL) throws -> ModelPackage {
        let info = try versionInfo(in: url)
        return try package(url, versionExtension: "mom", info: info) { info.currentVersionName }
    }

    private static func package(
        _ url: URL, versionExtension: String, info: VersionInfo, named: () throws -> String?
    ) throws -> ModelPackage {
        // A package may be a symbolic link, whose contents Foundation does not list.
        let files = try FileManager.default.contentsOfDirectory(
            at: url.resolvingSymlinksInPath(), includingPropertiesForKeys: nil)
        // macOS leaves a hidden “._Name.mom” with a file's attributes on disks that have none.
        let versions = files.filter { $0.pathExtension == versionExtension && !$0.lastPathComponent.hasPrefix(".") }
            .map { Version(name: $0.deletingPathExtension().lastPathComponent, url: $0) }.sorted { $0.name < $1.name }
        guard !versions.isEmpty else {
            let others = files.contains { $0.pathExtension == "omo" } ? "; its .omo files are Apple's own form" : ""
            throw ModelFileError(.corrupt, reason: "there is no .\(versionExtension) in it\(others)")
        }
        let isSource = versionExtension == "xcdatamodel"
        let current = Result {
            try ModelFileError.naming(url) { try currentName(url, versions, isSource: isSource, named: named()) }
        }
        return ModelPackage(url: url, versions: versions, current: current, info: info)
    }

    /// The name of the current version of a package.
    ///
    /// - Parameters:
    ///   - url: the package.
    ///   - versions: its versions.
    ///   - isSource: whether it is a source.
    ///   - named: the version that the package names.
    /// - Returns: the name.
    /// - Throws: an error for a version that does not exist, and where none of several is named.
    private static func currentName(
        _ url: URL, _ versions: [Version], isSource: Bool, named: String?
    ) throws -> String {
        let known = versions.map(\.name).joined(separator: ", ")
        let ownName = url.deletingPathExtension().lastPathComponent
        let implied = versions.count == 1 ? versions.first : versions.first { isSource && $0.name == ownName }
        guard let name = named ?? implied?.name else {
            let advice =
                isSource
                ? "; the hidden file .xccurrentversion, which may not have been copied, is a property list whose "
                    + "“_XCCurrentVersionName” is one of \(known), with “.xcdatamodel”" : ""
            throw ModelFileError(
                .corrupt, reason: "it has \(versions.count) versions and does not say which is current\(advice)")
        }
        guard versions.contains(where: { $0.name == name }) else {
            throw ModelFileError(
                .corrupt, reason: "its current version, “\(name)”, does not exist; there are \(known)")
        }
        return name
    }

    private static func versionInfo(in folder: URL) throws -> VersionInfo {
        let file = folder.appendingPathComponent(VersionInfo.fileName)
        guard FileManager.default.fileExists(atPath: file.path) else { return VersionInfo() }
        return try ModelFileError.naming(file) { try LatestVersionInfo.shared.withLock { try $0.info(of: file) } }
    }

    /// For a version that is read by itself, the hashes beside it, if it is in its package.
    private static func versionInfo(beside version: URL) throws -> VersionInfo {
        let folder = version.deletingLastPathComponent()
        return folder.pathExtension == "momd" && version.pathExtension == "mom"
            ? try versionInfo(in: folder) : VersionInfo()
    }

    /// The version that `.xccurrentversion` names, if there is that file.
    private static func currentVersion(ofSource url: URL) throws -> String? {
        let file = url.appendingPathComponent(".xccurrentversion")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try ModelFileError.naming(file) {
            guard let list = try? PropertyList(data: Data(contentsOf: file)), let fields = list.dictionaryValue else {
                throw ModelFileError(.corrupt, reason: "it does not name the current version")
            }
            // Xcode writes an empty dictionary if no version was chosen.
            guard let name = fields["_XCCurrentVersionName"]?.stringValue else { return nil }
            return URL(fileURLWithPath: name).deletingPathExtension().lastPathComponent
        }
    }
}

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

/// A cache of the last `VersionInfo.plist`, so that reading a package's versions one by one reads that file once.
struct LatestVersionInfo {
    /// The state of a file that is visible without reading it.
    private struct State: Equatable {
        let path: String
        let size: UInt64
        let number: UInt64
        let changed: Date

        /// - Returns: `nil` for a file whose state cannot be read; reading the file reports the reason.
        init?(_ file: URL) {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
                let size = attributes[.size] as? NSNumber, let number = attributes[.systemFileNumber] as? NSNumber,
                let changed = attributes[.modificationDate] as? Date
            else { return nil }
            path = file.path
            (self.size, self.number, self.changed) = (size.uint64Value, number.uint64Value, changed)
        }
    }

    /// The cache of the whole program.
    static let shared = Mutex(LatestVersionInfo())

    private var latest: (state: State, info: VersionInfo)?

    /// Reads a file, unless it was the last one read and has not changed since.
    ///
    /// - Throws: the errors of `VersionInfo.init(data:)`, and those of reading.
    mutating func info(of file: URL) throws -> VersionInfo {
        let state = State(file)
        if let latest, latest.state == state { return latest.info }
        let info = try VersionInfo(data: Data(contentsOf: file))
        latest = state.map { ($0, info) }
        return info
    }
}
