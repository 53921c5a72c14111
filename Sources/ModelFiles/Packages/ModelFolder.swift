import Foundation

/// Writes a folder of files as a whole, since packages of models are folders.
package enum ModelFolder {
    /// Writes the files into a folder beside the destination, which then replaces it; a failure leaves the destination
    /// unchanged.
    ///
    /// - Parameters:
    ///   - files: the contents, by their paths in the folder.
    ///   - destination: the folder to write, with its name.
    /// - Throws: `ModelFileError` if they cannot be written.
    package static func write(_ files: [String: Data], to destination: URL) throws {
        do { try replace(destination, by: files) } catch {
            // Foundation's descriptions name no file.
            throw ModelFileError(
                .unwritable,
                reason: "it cannot be written (\(ModelFileError.withoutPeriod(error.localizedDescription)))")
        }
    }

    private static func replace(_ destination: URL, by files: [String: Data]) throws {
        let manager = FileManager.default
        let parent = destination.deletingLastPathComponent()
        try manager.createDirectory(at: parent, withIntermediateDirectories: true)
        clearUp(beside: destination)
        let (draft, lock) = try makeDraft(beside: destination)
        let former = parent.appendingPathComponent(draft.lastPathComponent + formerSuffix)
        defer {
            try? manager.removeItem(at: draft)
            if let lock { close(lock) }
        }
        for (path, data) in files {
            let file = draft.appendingPathComponent(path)
            try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
        let exists = manager.fileExists(atPath: destination.path)
        if exists { try manager.moveItem(at: destination, to: former) }
        do { try manager.moveItem(at: draft, to: destination) } catch {
            if exists { try manager.moveItem(at: former, to: destination) }
            throw error
        }
        // Nothing refers to it any more; if it cannot be removed, it is hidden and harmless.
        if exists { try? manager.removeItem(at: former) }
    }

    /// Makes the folder for the files, whose lock shows other runs that it is in use.
    private static func makeDraft(beside destination: URL) throws -> (url: URL, lock: Int32?) {
        let parent = destination.deletingLastPathComponent()
        while true {
            let draft = parent.appendingPathComponent(prefix(of: destination) + UUID().uuidString)
            try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false)
            let lock = lock(draft)
            // Another run may have taken it for a leftover before it was locked. Without locks, none does.
            if lock != nil || errno != EWOULDBLOCK, FileManager.default.fileExists(atPath: draft.path) {
                return (draft, lock)
            }
            if let lock { close(lock) }
        }
    }

    // MARK: What interrupted runs have left

    private static let formerSuffix = "-former"

    private static func prefix(of destination: URL) -> String { ".\(destination.lastPathComponent)-" }

    /// Removes the drafts of runs that were ended before their folders were complete. The former folder returns to its
    /// place if a run was ended just before the new one came there.
    private static func clearUp(beside destination: URL) {
        let manager = FileManager.default
        let parent = destination.deletingLastPathComponent()
        let prefix = prefix(of: destination)
        for name in (try? manager.contentsOfDirectory(atPath: parent.path)) ?? [] where name.hasPrefix(prefix) {
            let isFormer = name.hasSuffix(formerSuffix)
            let draftName = isFormer ? String(name.dropLast(formerSuffix.count)) : name
            guard UUID(uuidString: String(draftName.dropFirst(prefix.count))) != nil else { continue }
            let found = parent.appendingPathComponent(name)
            if isFormer {
                let draft = parent.appendingPathComponent(draftName)
                if manager.fileExists(atPath: draft.path) {
                    guard let lock = lock(draft) else { continue }
                    close(lock)
                }
                if manager.fileExists(atPath: destination.path) {
                    try? manager.removeItem(at: found)
                } else {
                    try? manager.moveItem(at: found, to: destination)
                }
            } else if let lock = lock(found) {
                try? manager.removeItem(at: found)
                close(lock)
            }
        }
    }

    /// Takes the lock of a folder, which ends with the process.
    ///
    /// - Returns: the descriptor that has it; nil if another process has it, or there are no locks.
    private static func lock(_ folder: URL) -> Int32? {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        let number = errno
        close(descriptor)
        errno = number
        return nil
    }
}

/// Compiles source models, as Apple's `momc` does: an `.xcdatamodeld` becomes a `.momd` with a `.mom` per version, and
/// an `.xcdatamodel` outside of one a `.mom`.
package enum SourceModelCompiler {
    /// A remark on a model that was compiled.
    package struct Remark {
        /// The version's file.
        package let file: URL
        package let line: Int?
        package let message: String
    }

    /// Compiles a model: the current version, and those of the others that can be compiled.
    ///
    /// - Parameters:
    ///   - source: an `.xcdatamodeld` or `.xcdatamodel`.
    ///   - destination: the `.momd` to write, or a `.mom` with the current version alone; it is replaced once
    ///     everything is compiled.
    ///   - moduleName: the module for classes of the “current product module”.
    ///   - className: the name under which a class is found at run time, for its name in the model.
    ///   - needsCurrent: whether a package is refused whose current version is missing, or not said; otherwise its
    ///     versions are compiled into a `.momd` that does not say which is current.
    /// - Returns: what was left out, with the reason: versions that cannot be compiled, and values without meaning for
    ///   a store.
    /// - Throws: an error in the Cocoa domain naming file, line, entity and property if the current version cannot be
    ///   compiled; nothing is written then.
    @discardableResult
    package static func compileModel(
        at source: URL, to destination: URL, moduleName: String? = nil, className: (String) -> String = { $0 },
        needsCurrent: Bool = true
    ) throws -> [Remark] {
        let package = try ModelPackage(at: source)
        var info = VersionInfo()
        var remarks: [Remark] = []
        var currentName: String?
        do { currentName = try package.currentVersionName } catch let error as NSError
            where !needsCurrent && destination.pathExtension == "momd"
        {
            remarks.append(Remark(file: source, line: nil, message: message(of: error, source)))
        }
        info.currentVersionName = currentName
        info.hashesAreOurs = true
        var files: [String: Data] = [:]
        for version in package.versions {
            do {
                let document = try checkedDocument(of: package, version, moduleName: moduleName, className: className)
                files["\(version.name).mom"] = try compiledData(of: document, file: version.url)
                let hashes = VersionHash.hashes(of: document)
                info.versionHashes[version.name] = hashes
                info.checksums[version.name] = VersionHash.checksum(of: hashes)
                remarks += try package.sourceWarnings(version: version.name).map {
                    Remark(file: ModelPackage.file(of: version), line: $0.line, message: $0.text)
                }
            } catch let error as NSError where version.name != currentName {
                remarks.append(leftOut(version, error))
            }
        }
        if destination.pathExtension == "mom", let currentName, let data = files["\(currentName).mom"] {
            try ModelFileError.naming(destination) {
                try FileManager.default.createDirectory(
                    at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
                try data.write(to: destination, options: .atomic)
            }
            return remarks
        }
        if files.isEmpty, let first = remarks.last { throw ModelFileError(.corrupt, reason: first.message) }
        files[VersionInfo.fileName] = try info.data()
        try ModelFileError.naming(destination) { try ModelFolder.write(files, to: destination) }
        return remarks
    }

    /// The remark on a version that cannot be compiled. The others are compiled regardless: only stores of that version
    /// cannot be migrated.
    private static func leftOut(_ version: ModelPackage.Version, _ error: NSError) -> Remark {
        let file = ModelPackage.file(of: version)
        return Remark(
            file: file, line: error.userInfo["line"] as? Int,
            message: "the version “\(version.name)” is left out of the compiled model: \(message(of: error, file))")
    }

    /// What an error says, without its file, which is named separately.
    private static func message(of error: NSError, _ file: URL) -> String {
        var reason = error.localizedDescription
        for start in ["“\(file.path)”: ", "“\(file.path)”, "] where reason.hasPrefix(start) {
            reason.removeFirst(start.count)
        }
        return reason
    }

    /// A version of the model whose names were all checked, with the run-time names of its classes.
    private static func checkedDocument(
        of package: ModelPackage, _ version: ModelPackage.Version, moduleName: String?, className: (String) -> String
    ) throws -> ModelDocument {
        var document = try package.document(version: version.name, moduleName: moduleName)
        try ModelPackage.check(document, of: version)
        for position in document.entities.indices {
            let name = className(document.entities[position].className ?? "NSManagedObject")
            document.entities[position].className = name == "NSManagedObject" ? nil : name
            for index in document.entities[position].properties.indices {
                document.entities[position].properties[index].mapValueClasses { name in
                    name.hasPrefix(".") ? (moduleName ?? "") + name : className(name)
                }
            }
        }
        return document
    }

    /// The content of a `.mom` file.
    package static func compiledData(of document: ModelDocument, file: URL? = nil) throws -> Data {
        try ModelFileError.naming(file) { try ModelArchiveWriter.archive(of: document, form: .compiled).data() }
    }
}
