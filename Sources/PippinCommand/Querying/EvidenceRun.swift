import Foundation
import StoreReading

/// `--evidence FILE`: a run whose files are noted before and after.
enum EvidenceRun {
    /// Runs a command, and writes the manifest of the run if its arguments ask for one; also if the command fails.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the program.
    ///   - body: runs the command.
    /// - Returns: the exit status.
    /// - Throws: the errors of `body`, and `CommandError` for a manifest that cannot be written.
    static func noting(_ arguments: [String], _ body: () throws -> Int32) throws -> Int32 {
        guard let facts = try EvidenceFacts(of: Invocation(arguments)), let path = facts.manifest else {
            return try body()
        }
        let manifest = EvidenceManifest(
            program: "pippin \(PippinCommand.version)", arguments: arguments, stores: facts.stores)
        func write(_ status: Int32) throws {
            let text = manifest.text(
                outputs: facts.outputs(), status: status, sources: facts.stores.flatMap(Self.sources))
            try OutputFile.write(to: path) { try $0(text) }
        }
        let status: Int32
        do { status = try body() } catch {
            try? write(PippinCommand.failure)
            throw error
        }
        try write(status)
        return status
    }

    /// What of a store's files has a part in what SQLite reads.
    private static func sources(of store: String) -> [String] {
        guard let file = FileBytes(path: store), let header = DatabaseHeader(file.bytes(at: 0, count: 100)) else {
            return ["\(store): the whole file"]
        }
        var texts = ["\(store): \(file.count / header.pageSize) pages of \(header.pageSize) bytes"]
        if let log = FileBytes(path: store + "-wal").flatMap({ WriteAheadLog($0) }) {
            let read = log.commits.last?.frames.upperBound ?? 0
            texts.append(
                "\(store)-wal: frames 1 to \(read) of \(log.frames.count), \(log.commits.count) commits"
                    + (read < log.frames.count ? "; the others are not part of the database" : ""))
        }
        return texts
    }
}

/// What a command reads and writes, by its arguments. Pure, but for the names in a folder that was written.
private struct EvidenceFacts {
    var stores: [String] = []
    /// The manifest to write; nil for none.
    var manifest: String?
    private var files: [String] = []
    private var folder: String?

    init?(of invocation: Invocation) {
        switch invocation {
        case .info(let options): (stores, manifest) = ([options.store], options.evidence)
        case .dump(let options): (stores, manifest) = ([options.store], options.evidence)
        case .export(let options) where options.entity == nil:
            (stores, manifest, folder) = ([options.store], options.evidence, options.output)
        case .export(let options):
            (stores, manifest, files) = ([options.store], options.evidence, [options.output].compactMap { $0 })
        case .query(let options): (stores, manifest) = ([options.store], options.evidence)
        case .timeline(let options):
            (manifest, files) = (options.evidence, [options.output].compactMap { $0 })
            if manifest != nil { stores = options.paths.flatMap(Self.stores) }
        case .report(let options): (stores, manifest, files) = ([options.store], options.evidence, [options.output])
        case .recover(let options): (stores, manifest, folder) = ([options.store], options.evidence, options.output)
        default: return nil
        }
    }

    /// The stores in a folder; an archive is one file.
    private static func stores(in path: String) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        var stores: [String] = []
        try? StoreScan.forEachStore(in: path) { stores += [$0.url.path, $0.logPath].compactMap { $0 } }
        return stores
    }

    func outputs() -> [String] {
        guard let folder else { return files }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { "\(folder)/\($0)" }
    }
}
