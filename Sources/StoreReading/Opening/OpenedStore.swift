import CoreData
import Foundation
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine
import Synchronization

/// A store opened for reading through a private copy.
package struct OpenedStore {
    package let original: URL
    package let facts: FileFacts
    package let document: ModelDocument
    /// The origin of the model, as the end of a sentence.
    package let modelOrigin: String
    /// What is not known since the store's own model is not there; see `ModelCandidate.gap`.
    package let modelGap: String?
    package let layout: ModelLayout
    package let store: NSPersistentStore
    package let coordinator: NSPersistentStoreCoordinator
    let copy: PrivateCopy

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - modelPath: the model's path; nil for the store's own copy.
    ///   - isDamaged: whether damage was found in its pages, so that what can be read is shown.
    ///   - commit: the commit of its log as of which it is read: see `PrivateCopy`.
    /// - Throws: an error that names the file and its defect; `ModelCandidate.NoModel` if there is no model to read it
    ///   with.
    package init(at path: String, modelPath: String?, isDamaged: Bool = false, commit: Int? = nil) throws {
        original = URL(store: path)
        copy = try PrivateCopy(of: original, commit: commit)
        facts = try FileFacts(salvaging: copy, original: original, isDamaged: isDamaged)
        let options = CarefulReading.options.merging(
            [NSReadOnlyPersistentStoreOption: true, ExternalDataOption.store: original]
        ) { $1 }
        let candidates = try ModelCandidate.candidates(
            for: facts, store: original, file: copy.url, modelPath: modelPath)
        let opened = try ModelCandidate.open(candidates, facts, copy.url, options)
        (layout, coordinator, store) = (opened.layout, opened.coordinator, opened.store)
        (document, modelOrigin) = (opened.candidate.document, opened.candidate.origin)
        modelGap = opened.candidate.gap
    }

    /// What cannot be read of a damaged store, as a sentence without its final period; nil for an intact one.
    package var damage: String? { copy.damage }

    /// The objects of the store.
    package var objects: StoreObjects {
        StoreObjects(
            title: original.lastPathComponent, place: original.path, uuid: facts.uuid, layout: layout,
            coordinator: coordinator, store: store, isSorted: facts.kind == .sqlite)
    }

    /// The rows that are of no entity, and are left out, as sentences without their final periods.
    ///
    /// - Throws: an error for a file that cannot be read.
    package func strangeRows() throws -> [String] {
        guard facts.kind == .sqlite else { return [] }
        let roots = layout.entities.filter { $0.superentity == nil }
        return try StrangeRows.texts(of: roots, in: layout, coordinator.managedObjectModel, copy.url)
    }

    /// Compares the values in external files with the existing files.
    ///
    /// - Returns: nil for a store that keeps all values itself.
    package func externalData() throws -> ExternalDataSummary? {
        guard facts.kind.type == NSSQLiteStoreType else { return nil }
        return try ExternalDataSummary(database: copy.url, store: original)
    }
}

/// The rows that have the number of no entity of their table. In a table with several entities they are not objects,
/// and are left out of whatever is shown.
enum StrangeRows {
    /// What is left out of a table, as a sentence without its final period; nil for nothing.
    ///
    /// - Throws: SQLite's errors.
    static func text(of mapping: EntityMapping, _ connection: Connection) throws -> String? {
        guard mapping.sharesTable, let (count, keys) = try rows(of: mapping, connection) else { return nil }
        return
            "\(TextTools.count(count, "row")) of \(mapping.table) \(count == 1 ? "is" : "are") of an entity that the "
            + "model does not have: Z_PK \(keys)"
    }

    /// The rows of a table with one entity that have another number, as a sentence without its final period; nil for
    /// none. They are that entity's objects all the same, but a migration refuses them.
    ///
    /// - Throws: SQLite's errors.
    static func misnumbered(in mapping: EntityMapping, _ connection: Connection) throws -> String? {
        guard !mapping.sharesTable, let (count, keys) = try rows(of: mapping, connection) else { return nil }
        let subject = "\(TextTools.count(count, "row")) of \(mapping.table) \(count == 1 ? "has" : "have")"
        let own = "\(mapping.number), the number of “\(mapping.layout.name)”"
        return "\(subject) another value in Z_ENT than \(own): Z_PK \(keys)"
    }

    /// The number of the rows that have the number of no entity of their table, and the keys of the first of them, each
    /// with what it has for a number where that is not one.
    private static func rows(
        of mapping: EntityMapping, _ connection: Connection
    ) throws -> (count: Int, keys: String)? {
        let statement = try connection.prepare(StoreCheckSQL.strangers(in: mapping))
        var (count, named) = (0, [String]())
        while try statement.step() {
            count += 1
            guard count <= TextTools.mostNamed else { continue }
            let key = "\(statement.integer(at: 0))"
            let isNumber = ["integer", "null"].contains(statement.string(at: 1))
            named.append(
                isNumber
                    ? key : "\(key) (the \(statement.string(at: 1)) “\(TextTools.inOneLine(statement.string(at: 2)))”)")
        }
        guard count > 0 else { return nil }
        return (count, named.joined(separator: ", ") + (count > named.count ? ", …" : ""))
    }

    /// What is left out of the tables of some root entities.
    ///
    /// - Throws: an error for a file that cannot be read.
    static func texts(
        of roots: [EntityLayout], in layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL
    ) throws -> [String] {
        let connection = try ReadingConnection.open(url)
        let schema = try ReadingConnection.schema(of: layout, model, url)
        return try roots.compactMap { try schema.mapping(of: $0).flatMap { try text(of: $0, connection) } }
    }
}

/// Plain SQL on the file of a store, beside the coordinator that has it open.
enum ReadingConnection {
    /// A connection that changes nothing, with the collations that indexes may have, and the functions of checks.
    static func open(_ url: URL) throws -> Connection {
        var connection = try Connection(path: url.path, mode: .readOnly)
        do { _ = try connection.integer("PRAGMA schema_version") } catch let error as SQLiteError
            where (error.isCannotOpen || error.isReadOnly) && !StoreFile.hasContent(url, "-journal")
        {
            connection = try Connection(path: url.path, mode: .traceless)
        }
        try StoreFunctions.register(on: connection, derived: DerivedValues())
        try connection.register(function: ValueCheckSQL.isUTF8, argumentCount: 1) { arguments in
            .integer(arguments.withBytes(at: 0, UTF8Check.holds) ? 1 : 0)
        }
        return connection
    }

    /// The tables of a store.
    static func schema(of store: DirectStore, _ url: URL) throws -> SQLSchema {
        try schema(of: store.layout, store.coordinator.managedObjectModel, url)
    }

    /// The tables of a model in a file.
    static func schema(of layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL) throws -> SQLSchema {
        let catalog = try StoreFile.openForReading(url).catalog()
        return SQLSchema(
            layout: layout, entityNames: nil, numbers: catalog.numbers(for: model), catalog: catalog)
    }
}

/// How programs read stores of unknown origin: they leave no trace, and take no more memory than they say.
package enum CarefulReading {
    /// The most bytes of a value with which SQLite computes, such as a generated column.
    private static let longestValue: Int32 = 205_000_000
    /// The most bytes that SQLite takes together, with a value that is being copied.
    private static let heap: Int64 = 215_000_000
    /// The most bytes that are read of an object's values: they are in memory twice for a moment.
    private static let largestRow = 64_000_000
    /// The most bytes of an XML or binary store, which is read as a whole: its objects take up to twelve times as much.
    private static let largestDocument = 20_000_000
    private static let limitsDocuments = Atomic(false)

    /// Begins it for the whole process. To be called before a store is opened, by programs that change none in its
    /// place.
    ///
    /// - Parameter limitsDocuments: whether large XML and binary stores are refused.
    package static func begin(limitsDocuments: Bool = true) {
        OpenMode.readWithoutTrace()
        MemoryLimits.set(value: longestValue, heap: heap)
        Self.limitsDocuments.store(limitsDocuments, ordering: .relaxed)
    }

    /// Refuses an XML or binary store that would take too much memory, unless the variable `PIPPIN_DOCUMENT_LIMIT` of
    /// the environment allows more bytes.
    ///
    /// - Parameters:
    ///   - file: the file to be read.
    ///   - store: the store's path, for the message.
    /// - Throws: `CommandError`
    static func admit(document file: URL, of store: URL) throws {
        guard limitsDocuments.load(ordering: .relaxed) else { return }
        let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let limit = ProcessInfo.processInfo.environment["PIPPIN_DOCUMENT_LIMIT"].flatMap { Int($0) } ?? largestDocument
        guard size > limit else { return }
        throw CommandError(
            "“\(store.path)” has \(size) bytes, and an XML or binary store is read as a whole, which takes up to twelve "
                + "times as much memory: \(limit) bytes may be read. Set PIPPIN_DOCUMENT_LIMIT=\(size), or copy it into an "
                + "SQLite store with pippin copy")
    }

    /// The options to open a store with that is shown: larger values are named instead, and archives are the bytes that
    /// the store has, of which no object is made.
    static var options: [AnyHashable: Any] {
        [StoreSettings.largestRowOption: largestRow, StoreSettings.isCopiedOption: true]
    }
}

extension SQLiteError {
    /// A value, or what a statement makes of values, takes more memory than `CarefulReading` lets it.
    var isBeyondLimit: Bool {
        // SQLITE_NOMEM
        code == Self.tooLarge || code == 7
    }
}
