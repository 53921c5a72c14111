import CoreData
import Foundation
import ModelFiles
import SQLiteConnection
import SQLiteEngine

/// The information in a store's file that needs no model.
package struct FileFacts {
    package let kind: StoreKind
    package let uuid: String
    /// The metadata; empty if there are none.
    package let metadata: [String: PropertyList]
    /// Why there are no metadata, as the end of a sentence; nil if there are.
    package internal(set) var missingMetadata: String?
    /// Whether the file names the properties of its objects, so that their values cannot come under other names.
    package let namesProperties: Bool
    /// The store's copy of its model; nil if it keeps none. Of several, it is the one of the version in the metadata.
    package let modelCache: Data?
    /// Whether the store keeps a persistent history.
    package let hasHistory: Bool
    /// The names of the tables of an SQLite store, in capitals.
    private let tables: Set<String>

    /// Reads a copy of the store at `original`.
    ///
    /// Missing metadata or a missing model are not an error: the objects may be intact.
    ///
    /// - Throws: `CommandError` naming the store if it is damaged, or no Core Data store.
    package init(copy: URL, original: URL) throws { try self.init(copy, original: original, isCopy: true) }

    /// Reads a store in place, without changing anything.
    ///
    /// - Throws: the same errors as `init(copy:original:)`.
    package init(inPlace store: URL) throws { try self.init(store, original: store, isCopy: false) }

    private init(_ copy: URL, original: URL, isCopy: Bool) throws {
        kind = try StoreKind(of: original)
        guard kind == .sqlite else {
            try CarefulReading.admit(document: copy, of: original)
            let metadata: [String: Any]
            do {
                metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: copy)
                missingMetadata = nil
            } catch {
                // What is left of a damaged file may have them all the same.
                guard let contents = try? DocumentStore.contents(of: copy, type: kind.type) else { throw error }
                (metadata, missingMetadata) = (contents.metadata, contents.missingMetadata)
            }
            uuid = metadata[NSStoreUUIDKey] as? String ?? ""
            self.metadata = metadata.compactMapValues { try? PropertyList(foundationObject: $0) }
            namesProperties = try !CoreDataBinaryFile.isOne(Data(contentsOf: copy, options: .mappedIfSafe))
            modelCache = nil
            hasHistory = false
            tables = []
            return
        }
        namesProperties = true
        do {
            let file = try isCopy ? RawStoreFile(copy, mode: .readWrite) : RawStoreFile.forReading(copy)
            guard file.tables.contains("Z_METADATA"), file.tables.contains("Z_PRIMARYKEY") else {
                let missing = file.tables.contains("Z_METADATA") ? "Z_PRIMARYKEY" : "Z_METADATA"
                throw CommandError(
                    "“\(original.path)” is an SQLite database but no Core Data store: it has no table \(missing)"
                        + ForeignLog.text(original))
            }
            tables = Set(file.tables.map { $0.uppercased() })
            let row = try file.metadata()
            uuid = row?.uuid ?? ""
            (metadata, missingMetadata) = Self.metadata(row?.list ?? Data(), hasRow: row != nil)
            // The copy is changed so that it can be opened without metadata.
            if isCopy, missingMetadata != nil { try file.blankMetadata() }
            modelCache = ModelCopies.current(
                try file.modelCopies(), hashed: Set(Self.versionHashes(in: metadata).keys))
            hasHistory = file.hasHistory
        } catch let error as SQLiteError {
            let log = error.isCorrupt ? ForeignLog.text(original) : ""
            if error.isCorrupt, log.isEmpty, let missing = SQLiteHeader(of: copy)?.missingBytes {
                throw CommandError(
                    "“\(original.path)” is cut off: \(missing) bytes are missing at its end. \(StoreRepair.advice)")
            }
            guard error.isCorrupt else {
                let advice = error.isReadOnly ? Self.interruption(of: original) : nil
                throw CommandError("“\(original.path)” cannot be read: \(advice ?? error.message)")
            }
            let cause = log.isEmpty ? ". \(StoreRepair.advice)" : log
            throw CommandError("“\(original.path)” is damaged: \(error.message)\(cause)")
        }
    }

    /// What to say of a store beside which there is the journal of a program that was interrupted; nil without one.
    private static func interruption(of store: URL) -> String? {
        guard StoreFile.hasContent(store, "-journal") else { return nil }
        return
            "a program was interrupted while it wrote to it, and “\(store.lastPathComponent)-journal” takes that back. "
            + "Leave out --in-place, so that a copy is read; pippin shell and pippin browse need the program to open it first"
    }

    /// The metadata, or the reason why there are none.
    private static func metadata(_ data: Data, hasRow: Bool) -> ([String: PropertyList], String?) {
        guard hasRow else { return ([:], "the table Z_METADATA is empty") }
        guard !data.isEmpty else { return ([:], "Z_METADATA.Z_PLIST is empty") }
        do {
            // Core Data on Mac OS X 10.4 wrote them as XML.
            guard let list = try PropertyList(data: data) else {
                return ([:], "Z_METADATA.Z_PLIST is damaged: it is not a property list")
            }
            guard let fields = list.dictionaryValue else {
                return ([:], "Z_METADATA.Z_PLIST is not a dictionary")
            }
            return (fields, nil)
        } catch {
            return ([:], "Z_METADATA.Z_PLIST is damaged: " + TextTools.withoutPeriod("\(error)"))
        }
    }

    /// The version hashes of the entities.
    package var versionHashes: [String: Data] { Self.versionHashes(in: metadata) }

    private static func versionHashes(in metadata: [String: PropertyList]) -> [String: Data] {
        metadata["NSStoreModelVersionHashes"]?.dictionaryValue?.compactMapValues(\.dataValue) ?? [:]
    }

    /// The part of a model that the store has, according to its version hashes: a store of one configuration keeps a
    /// copy of the whole model, and tables for some of its entities.
    ///
    /// - Parameter model: the whole model.
    /// - Returns: the part; nil if it is the whole, or if an entity without a hash has a table all the same.
    func part(of model: ModelDocument) -> ModelDocument? {
        guard let part = model.limited(to: Set(versionHashes.keys)) else { return nil }
        let kept = Set(part.entities.map(\.name))
        let hasTable = model.entities.contains {
            !kept.contains($0.name) && $0.parentName == nil && tables.contains("Z" + $0.name.uppercased())
        }
        return hasTable ? nil : part
    }

    /// The identifiers of the model's version that are not empty.
    package var versionIdentifiers: [String] {
        (metadata["NSStoreModelVersionIdentifiers"]?.arrayValue ?? []).compactMap(\.stringValue).filter { !$0.isEmpty }
    }
}

/// A write-ahead log with which a store is damaged, and without which it is not, such as that of another store, left or
/// copied beside it. Nothing in a log says which database it is of.
enum ForeignLog {
    /// What to say of such a log.
    ///
    /// - Parameter url: the file of the store, beside its log.
    /// - Returns: the end of a sentence without its period; empty for none, and if the file itself is cut off.
    static func text(_ url: URL) -> String {
        let log = url.resolvingSymlinksInPath().path + "-wal"
        let attributes = try? FileManager.default.attributesOfItem(atPath: log)
        guard let size = (attributes?[.size] as? NSNumber)?.int64Value, size > 0,
            SQLiteHeader(of: url)?.missingBytes == nil,
            // Damage that is in the file itself does not come from the log.
            let connection = try? Connection(path: url.path, mode: .immutable),
            let names = try? connection.tableNames(), names.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]),
            (try? connection.string("PRAGMA quick_check(1)")) == "ok"
        else { return "" }
        return "; without its write-ahead log “\(log)” it is readable, so that the log may be another store's: "
            + "look at a copy of the file alone"
    }
}
