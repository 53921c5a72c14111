import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// A repaired copy of a store. The store itself stays unchanged.
package enum StoreRepair {
    /// What can be done about a damaged file.
    static let advice = "“pippin check STORE --repair COPY” copies what can be read"

    /// The same about an error, as a sentence; nil for one of another kind.
    package static func advice(for error: any Error) -> String? {
        isDamage(error) ? advice + "." : nil
    }

    /// Whether an error says that pages of a database are damaged.
    package static func isDamage(_ error: any Error) -> Bool {
        (error as? SQLiteError ?? SQLiteError(reportedBy: error as NSError))?.isCorrupt == true
    }

    /// Writes the copy.
    ///
    /// - Parameters:
    ///   - path: the store.
    ///   - copy: the file to write, which must not exist.
    ///   - model: the model's path; nil for the store's own copy.
    /// - Returns: what was done, in sentences without their final periods.
    /// - Throws: `CommandError` if the file exists, an error for a store that cannot be copied.
    package static func repair(_ path: String, into copy: String, model: String?) throws -> [String] {
        let (source, target) = (URL(store: path), URL(fileURLWithPath: copy))
        guard try StoreKind(of: source) == .sqlite else {
            throw CommandError("“\(path)” is not a SQLite store; only these are mended")
        }
        let original = try PrivateCopy(of: source)
        let draft = try StoreDraft(of: target, like: source)
        do {
            let done = try mend(original.url, source, draft.url, model)
            try draft.publish()
            return done
        } catch {
            guard let failure = error as? SQLiteError else { throw error }
            throw CommandError(
                failure.isCorrupt
                    ? "“\(path)” is too damaged to be copied: \(failure.message)"
                    : "“\(copy)” cannot be written: \(failure.message)")
        }
    }

    private static func mend(_ readable: URL, _ source: URL, _ target: URL, _ model: String?) throws -> [String] {
        var done = ["the file and its indexes are written anew"]
        if try !rewrite(readable, to: target) {
            let file = try FileHandle(forWritingTo: target)
            try file.truncate(atOffset: 0)
            try file.close()
            done += try RowSalvage(of: readable, into: Self.connection(target)).losses
        }
        try StoreFiles.linkFiles(of: source, to: target)
        var opening = DirectStore.Opening(path: target.path, modelPath: model)
        // Metadata that are lost keep a store from being opened in place.
        opening.readsCopy = true
        // What can be read is kept, even if it is not a store any more: a check of the copy says why.
        guard let store = try? DirectStore(opening), store.damage == nil else { return done }
        let schema = try ReadingConnection.schema(of: store, target)
        let metadata = store.store.metadata
        store.close()
        let connection = try Self.connection(target)
        try connection.execute("PRAGMA journal_mode = WAL")
        let derived = DerivedCheck(schema, connection, metadata: metadata)
        try connection.transaction(.immediate) {
            // Before references are mended, whose changes the triggers follow.
            done += try derived.mendTriggers()
            for entity in store.layout.entities where entity.superentity == nil {
                guard let mapping = schema.mapping(of: entity) else { continue }
                if let line = try mendCounter(mapping, connection) { done.append(line) }
            }
            for entity in store.layout.entities {
                for relationship in entity.relationships
                where relationship.source === entity && !relationship.isTransient {
                    if let line = try mendReferences(relationship, schema, connection) { done.append(line) }
                }
            }
            done += try derived.mendValues()
        }
        return done
    }

    /// Has SQLite write each row and each index anew, which leaves damaged free pages behind.
    ///
    /// - Returns: false for a file with which that cannot be done: SQLite stops at what is damaged, at an index whose
    ///   collation it does not know, or copies rows in the wrong order.
    private static func rewrite(_ readable: URL, to target: URL) throws -> Bool {
        do {
            let connection = try Self.connection(readable)
            try connection.execute("REINDEX")
            let statement = try connection.prepare("VACUUM INTO ?")
            try statement.bind(target.path, at: 1)
            _ = try statement.step()
            return try Self.connection(target).string("PRAGMA integrity_check(1)") == "ok"
        } catch let error as SQLiteError where error.isCorrupt || error.isInStatement { return false }
    }

    /// A connection with the functions that the triggers of derived attributes call, and the collations of indexes.
    private static func connection(_ url: URL) throws -> Connection {
        let connection = try Connection(path: url.path, mode: .readWrite)
        try StoreFunctions.register(on: connection, derived: DerivedValues())
        return connection
    }

    private static func mendCounter(_ mapping: EntityMapping, _ connection: Connection) throws -> String? {
        guard let greatest = try connection.integer(StoreCheckSQL.greatestKey(of: mapping.table)),
            let counter = try connection.integer(StoreCheckSQL.counter(of: mapping.number)), counter < greatest
        else { return nil }
        try connection.run(StoreCheckSQL.setCounter(of: mapping.number, to: greatest))
        return "the counter of “\(mapping.layout.name)” is \(greatest); it was \(counter)"
    }

    private static func mendReferences(
        _ relationship: RelationshipLayout, _ schema: SQLSchema, _ connection: Connection
    ) throws -> String? {
        guard let source = schema.mapping(of: relationship.source),
            let destination = schema.mapping(of: relationship.destination)
        else { return nil }
        if !relationship.isToMany {
            guard let column = source.columns[relationship.slot] else { return nil }
            try connection.run(StoreCheckSQL.clearDangling(column, of: source, destination: destination))
        } else if case .joinTable(let join)? = source.toManys[relationship.index] {
            try connection.run(StoreCheckSQL.deleteDangling(join, destination: destination))
        } else {
            return nil
        }
        let count = connection.changes
        guard count > 0 else { return nil }
        return
            "“\(relationship.source.name).\(relationship.name)”: \(TextTools.count(count, "reference")) that led nowhere \(count == 1 ? "is" : "are") gone"
    }
}
