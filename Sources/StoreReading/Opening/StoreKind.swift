import CoreData
import Foundation
import ModelFiles
import StoreEngine

extension URL {
    /// The file that a store's path names, behind its symbolic links: SQLite's log, and the large values, are beside
    /// that file.
    package init(store path: String) { self = URL(fileURLWithPath: path).resolvingSymlinksInPath() }

    /// Makes an empty file for the copy of a store, for those only who may read the store.
    ///
    /// - Returns: whether it was made; false if there is one already.
    package func makeFile(like store: URL) throws -> Bool { try StorePermissions(of: store).makeDatabase(self) }
}

/// The kinds of store files. A file's first bytes show its kind; its name does not.
package enum StoreKind: Equatable {
    case sqlite
    case xml
    case binary

    /// The kind as Core Data names it.
    package var type: String {
        switch self {
        case .sqlite: NSSQLiteStoreType
        case .xml: NSXMLStoreType
        case .binary: NSBinaryStoreType
        }
    }

    /// Recognizes a store by its first bytes. `nil` for a file that is not a store.
    ///
    /// - Parameter start: the first bytes of a file.
    package init?(start: Data) {
        if start.starts(with: Data("SQLite format 3\0".utf8)) {
            self = .sqlite
        } else if start.starts(with: Data("bplist00".utf8)) || CoreDataBinaryFile.isOne(start) {
            self = .binary
        } else {
            guard XMLStoreReader.reads(fileThatBegins: start) else { return nil }
            self = .xml
        }
    }

    /// Examines a file, or returns the known kind of one that the process has open.
    ///
    /// - Throws: `CommandError` if it is missing, cannot be read, or is not a store.
    package init(of url: URL) throws { self = try LogFiles.kind(of: url) ?? StoreKind(lookingAt: url) }

    /// Looks at a file.
    ///
    /// - Throws: `CommandError` if it is missing, cannot be read, or is not a store.
    init(lookingAt url: URL) throws {
        let path = url.path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw CommandError("“\(path)”: there is no such file")
        }
        if isDirectory.boolValue, let error = Self.modelError(url) { throw error }
        guard !isDirectory.boolValue else { throw CommandError("“\(path)” is a folder; a store expected") }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandError("“\(path)” is not a regular file; a store expected")
        }
        guard let file = FileHandle(forReadingAtPath: path) else { throw CommandError("“\(path)” cannot be read") }
        defer { try? file.close() }
        let start = (try? file.read(upToCount: 2048)) ?? Data()
        guard !start.isEmpty else {
            throw CommandError("“\(path)” is empty; a store expected\(Self.log(beside: path))")
        }
        if let store = Self.store(ofLog: path, start) {
            throw CommandError("“\(path)” is the write-ahead log of “\(store)”; name that file")
        }
        let found = StoreKind(start: start)
        // The files of Xcode 3, and compiled models, are archives as binary stores are.
        if found == nil || found == .binary, let error = Self.modelError(url) { throw error }
        guard let kind = found else {
            throw CommandError(
                "“\(path)” is not a store: it begins neither with “SQLite format 3”, nor as an XML or binary store does"
            )
        }
        self = kind
    }

    /// What to add where a store is empty that has a log: its content is not lost.
    private static func log(beside path: String) -> String {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        guard let size = (attributes?[.size] as? NSNumber)?.int64Value, size > 0 else { return "" }
        return ". Its write-ahead log “\(path)-wal” has \(TextTools.size(size))"
    }

    /// The path of the store whose write-ahead log a file is; nil if it is none.
    private static func store(ofLog path: String, _ start: Data) -> String? {
        let isLog = [0x82, 0x83].contains { start.starts(with: [0x37, 0x7F, 0x06, $0]) }
        guard isLog, path.hasSuffix("-wal") else { return nil }
        return String(path.dropLast("-wal".count))
    }

    /// What to say of a file or folder that is a model, or part of one, or a mapping model.
    private static func modelError(_ url: URL) -> CommandError? {
        if ["cdm", "xcmappingmodel"].contains(url.pathExtension) {
            return CommandError(
                "“\(url.path)” is a mapping model, and neither a store nor a model; pippin migrate takes it with "
                    + "--mapping")
        }
        guard let model = ModelPackage.model(around: url) else { return nil }
        let isWhole = model.path == url.standardizedFileURL.path
        return CommandError(
            "“\(url.path)” is \(isWhole ? "a model" : "part of the model “\(model.lastPathComponent)”"), and no store; "
                + "pippin model describe “\(model.path)” shows it, and the other commands take it with --model")
    }
}
