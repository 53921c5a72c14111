import CoreData
import ModelFiles
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// A store that is read in place, while other programs may write to it; or, on request, written to.
///
/// `OpenedStore` reads a copy, so that nothing beside the store changes; a store of gigabytes, or one to be watched, is
/// not copied.
package final class DirectStore: @unchecked Sendable {
    // @unchecked Sendable: immutable; the copy is only kept.
    /// What to open, as a value.
    package struct Opening: Sendable {
        /// The store's path.
        package var path: String
        /// The model's path; nil for the store's own copy.
        package var modelPath: String?
        package var isWritable = false
        /// Whether changes by others are announced.
        package var announcesChanges = false
        /// Whether a private copy is read instead, so that nothing beside the store changes.
        package var readsCopy = false
        /// Whether what can be read of a store is shown whose metadata, numbers of entities or model are on damaged
        /// pages: in a private copy, even if the store is to be read in place. One to be changed is refused.
        package var salvages = false
        /// Whether damage was found in other pages, too, so that what can be read is shown in any case.
        package var isDamaged = false
        /// How long another program's lock is waited for, in seconds; nil for as long as Core Data does.
        package var timeout: Double?

        package init(path: String, modelPath: String? = nil) { (self.path, self.modelPath) = (path, modelPath) }
    }

    /// The file that is read, the store's or a copy; nil for a store in a database.
    package let file: URL?
    /// The location of the store, with its external data beside it; nil for one in a database.
    package let original: URL?
    /// The name of the store.
    package let name: String
    package let document: ModelDocument
    /// The origin of the model, as the end of a sentence.
    package let modelOrigin: String
    /// What is not known since the store's own model is not there; see `ModelCandidate.gap`.
    package let modelGap: String?
    /// Why there are no metadata, as the end of a sentence; nil if there are.
    let missingMetadata: String?
    package let layout: ModelLayout
    package let coordinator: NSPersistentStoreCoordinator
    package let store: NSPersistentStore
    /// Whether a page can begin after a row: other stores are in memory as a whole.
    package let pagesByKey: Bool
    private let copy: PrivateCopy?
    private let logFiles: LogFiles?
    /// The file that was opened in place; nil for a copy, a store that is in memory, and one in a database.
    private let identity: OpenFiles.Identity?

    /// Opens a store in a file.
    ///
    /// - Throws: an error that names the file and its defect.
    package init(_ opening: Opening) throws {
        let original = URL(store: opening.path)
        let identity = OpenFiles.Identity(original.path)
        let facts: FileFacts
        (copy, logFiles, facts) = try Self.facts(opening, original)
        var options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: !opening.isWritable,
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: opening.announcesChanges,
        ]
        if !opening.isWritable { options.merge(CarefulReading.options) { $1 } }
        if let timeout = opening.timeout { options[NSPersistentStoreTimeoutOption] = timeout }
        if facts.hasHistory { options[NSPersistentHistoryTrackingKey] = true }
        if copy != nil { options[ExternalDataOption.store] = original }
        let url = copy?.url ?? original
        let candidates: [() throws -> ModelCandidate]
        do {
            candidates = try ModelCandidate.candidates(
                for: facts, store: original, file: url, modelPath: opening.modelPath, isWritable: opening.isWritable)
        } catch let
            error as ModelCandidate.NoModel
        {
            guard facts.kind == .sqlite, !opening.isWritable else {
                throw CommandError("\(error.reason); --model names a model to open it with")
            }
            candidates = [{ try TableModel.candidate(for: url, store: original, reason: error.reason) }]
        }
        let opened = try ModelCandidate.open(candidates, facts, url, options)
        if opening.isWritable { try Self.checkVersion(of: opened, among: candidates) }
        (layout, coordinator, store) = (opened.layout, opened.coordinator, opened.store)
        (document, modelOrigin) = (opened.candidate.document, opened.candidate.origin)
        (modelGap, missingMetadata) = (opened.candidate.gap, facts.missingMetadata)
        (file, self.original) = (url, original)
        name = original.lastPathComponent
        pagesByKey = facts.kind == .sqlite
        self.identity = copy == nil && pagesByKey ? identity : nil
    }

    /// Reads what the file says of itself, in place or in a copy.
    private static func facts(_ opening: Opening, _ original: URL) throws -> (PrivateCopy?, LogFiles?, FileFacts) {
        if opening.readsCopy {
            let copy = try PrivateCopy(of: original)
            let facts = try FileFacts(
                salvaging: copy, original: original, isDamaged: opening.isDamaged, readsDamaged: opening.salvages)
            return (copy, nil, facts)
        }
        let logFiles = try LogFiles(of: original)
        do { return (nil, logFiles, try FileFacts(inPlace: original)) } catch {
            logFiles.leave()
            guard opening.salvages, !opening.isWritable, let copy = try? PrivateCopy(of: original),
                let facts = try? FileFacts(salvaging: copy, original: original), !copy.losses.isEmpty
            else { throw error }
            return (copy, nil, facts)
        }
    }

    /// Refuses to write into a document that may be of another version of the model.
    private static func checkVersion(
        of opened: ModelCandidate.Opened, among candidates: [() throws -> ModelCandidate]
    ) throws {
        guard let document = opened.store as? DocumentStore else { return }
        func versions() -> [KnownVersion] {
            candidates.compactMap { read in
                guard let candidate = try? read(), let model = try? candidate.model() else { return nil }
                return KnownVersion(name: candidate.versionName, model: model)
            }
        }
        do { try document.checkVersion(among: versions()) } catch {
            try? opened.coordinator.remove(opened.store)
            throw error
        }
    }

    /// Opens a store in a database.
    ///
    /// - Parameters:
    ///   - name: the name; not its address, which may contain a password.
    ///   - type: the type of the store, which is known to the coordinator.
    ///   - url: its location.
    ///   - candidate: its model.
    ///   - options: the options to open it with.
    /// - Throws: the errors of opening it.
    package init(
        named name: String, type: String, url: URL, candidate: ModelCandidate, options: [AnyHashable: Any]
    ) throws {
        let model = try candidate.model()
        layout = try model.compiledLayout()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        document = candidate.document
        (modelOrigin, modelGap, missingMetadata) = (candidate.origin, candidate.gap, nil)
        (file, original) = (nil, nil)
        (copy, logFiles, identity) = (nil, nil, nil)
        self.name = name
        pagesByKey = true
    }

    /// Asks the engine, one question at a time.
    package func asking<Result>(_ body: (any StoreEngine) throws -> Result) throws -> Result {
        try coordinator.performAndWait { () throws in try body(store.engine) }
    }

    /// Checks that the store is still the one that was opened: SQLite goes on reading a file that has no name any more.
    ///
    /// - Throws: `CommandError` if the file was removed, or replaced by another one.
    package func checkFile() throws {
        guard let identity, let original, OpenFiles.Identity(original.path) != identity else { return }
        throw CommandError(
            "the file “\(original.path)” was removed, or replaced by another one, since it was opened; open it again")
    }

    /// The rows that are of no entity, and are left out, as sentences without their final periods.
    ///
    /// - Parameter entity: the entity in whose table they are; nil for those in all tables.
    /// - Returns: a sentence for each table that has such rows.
    /// - Throws: an error for a file that cannot be read.
    package func strangeRows(besides entity: EntityLayout? = nil) throws -> [String] {
        guard let file, pagesByKey else { return [] }
        let roots = entity.map { [$0.root] } ?? layout.entities.filter { $0.superentity == nil }
        return try StrangeRows.texts(of: roots, in: layout, coordinator.managedObjectModel, file)
    }

    /// Whether a private copy is read.
    var isCopy: Bool { copy != nil }

    /// What cannot be read of a damaged store, as a sentence without its final period; nil for an intact one.
    package var damage: String? { copy?.damage }

    /// The ID of an object, whether or not the object exists.
    package func identifier(_ entity: EntityLayout, _ key: Int64) -> NSManagedObjectID {
        NSManagedObjectID(layout: entity, store: store.identity, key: key)
    }

    /// Closes the store, and removes the files that SQLite has put beside it for reading.
    package func close() {
        try? coordinator.remove(store)
        logFiles?.leave()
    }

    deinit { close() }
}

/// A model for a store that has none: the entities of its tables, with an attribute for each column. Relationships are
/// the numbers in their columns.
enum TableModel {
    /// - Parameters:
    ///   - url: the file to read, the store's or a copy.
    ///   - store: the store, by which errors name it.
    ///   - reason: why there is no model, as a sentence without its final period.
    /// - Returns: the model.
    /// - Throws: `CommandError` for a file that cannot be read, or has no entities.
    static func candidate(for url: URL, store: URL, reason: String) throws -> ModelCandidate {
        let tables = try RawTables.reading(store) { try RawTables(RawStoreFile.forReading(url)) }
        let document = document(of: tables)
        guard !document.entities.isEmpty else { throw CommandError("\(reason), and it has no entities") }
        return ModelCandidate(
            document: document, versionHashes: [:], origin: "none: \(reason). Its tables are shown as they are",
            gap: "\(reason); its tables are shown as they are")
    }

    /// Pure.
    static func document(of tables: RawTables) -> ModelDocument {
        var document = ModelDocument()
        document.entities = tables.entities.map { entity in
            var described = EntityDocument(name: entity.name)
            described.parentName = entity.parent
            guard entity.parent == nil else { return described }
            for column in entity.table.columns {
                guard let property = attribute(column), described.property(named: property.name) == nil else {
                    continue
                }
                described.properties.append(property)
            }
            return described
        }
        return document
    }

    /// `ZTITLE VARCHAR` as the attribute `title`; nil for the columns that every row has. A column whose name begins
    /// with another character after the Z, such as `Z15NAME` of a relationship without an inverse, is an attribute of
    /// its whole name, since a query cannot contain `15name`; the former name leads to the column.
    private static func attribute(_ column: TableDefinition.Column) -> PropertyDocument? {
        let name = column.name.uppercased()
        guard name.hasPrefix("Z"), let first = name.dropFirst().first, !RawTables.isBookkeeping(name) else {
            return nil
        }
        let bare = name.dropFirst().lowercased()
        let isPlain = first.isLetter
        var property = PropertyDocument(
            name: isPlain ? bare : name.lowercased(),
            kind: .attribute(AttributeDocument(type: type(column.declaredType))))
        property.isOptional = true
        property.renamingIdentifier = isPlain ? nil : bare
        StoredNames.record(column.name, in: &property)
        return property
    }

    private static func type(_ declared: String) -> NSAttributeType {
        switch declared.uppercased() {
        case "INTEGER": .integer64AttributeType
        case "FLOAT", "REAL", "DOUBLE": .doubleAttributeType
        case "DECIMAL": .decimalAttributeType
        case "TIMESTAMP": .dateAttributeType
        case "BLOB": .binaryDataAttributeType
        default: .stringAttributeType
        }
    }
}

/// The tables of an SQLite store, read without a model: the entities that `Z_PRIMARYKEY` numbers, each with the table
/// that has its rows, and the join tables. Pure.
struct RawTables {
    struct Entity {
        let name: String
        let number: Int
        /// Its superentity; nil for none, and above too many levels.
        let parent: String?
        let table: Table
        /// Whether the table also has rows of other entities, which the numbers of the rows tell apart. All rows of a
        /// table of its own are the entity's, also those with another number.
        let sharesTable: Bool
    }

    struct Table {
        let name: String
        let columns: [TableDefinition.Column]
    }

    /// The entities whose tables are there, by name.
    let entities: [Entity]
    let joinTables: [Table]

    /// Reads the tables of a file.
    ///
    /// - Throws: SQLite's errors.
    init(_ file: RawStoreFile) throws { self.init(try file.entities(), try file.columnsByTable()) }

    init(_ numbered: [RawStoreFile.Entity], _ columnsByTable: [String: [TableDefinition.Column]]) {
        let tables = columnsByTable.sorted { $0.key < $1.key }.map { Table(name: $0.key, columns: $0.value) }
        // Core Data writes the names of tables in capitals.
        let byName = Dictionary(tables.map { ($0.name.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
        let byNumber = Dictionary(numbered.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let ancestors = numbered.map { Self.ancestors(of: $0, in: byNumber) }
        let tableNames = zip(numbered, ancestors).map { "Z" + ($1.last ?? $0).name.uppercased() }
        let sharers = Dictionary(tableNames.map { ($0, 1) }, uniquingKeysWith: +)
        var entities: [Entity] = []
        var names: Set<String> = []
        for (position, entity) in numbered.enumerated() {
            let tableName = tableNames[position]
            guard let table = byName[tableName], names.insert(entity.name).inserted else { continue }
            let isNumbered = table.columns.contains { $0.name == Self.entityColumn }
            entities.append(
                Entity(
                    name: entity.name, number: entity.number, parent: ancestors[position].first?.name, table: table,
                    sharesTable: isNumbered && sharers[tableName, default: 1] > 1))
        }
        if numbered.isEmpty {
            // The numbers are lost. The entities have the names of their tables; subentities are not known.
            entities = tables.filter { Self.isEntityTable($0) }.map { table in
                Entity(
                    name: String(table.name.dropFirst()), number: 0, parent: nil, table: table, sharesTable: false)
            }
        }
        self.entities = entities
        joinTables = tables.filter { Self.isJoinTable($0.name) && !names.contains($0.name) }
    }

    /// The superentities of an entity, the nearest first. None where they are more than a model may have, or endless in
    /// a damaged store: such an entity is shown without its inheritance.
    private static func ancestors(
        of entity: RawStoreFile.Entity, in entities: [Int: RawStoreFile.Entity]
    ) -> [RawStoreFile.Entity] {
        var ancestors: [RawStoreFile.Entity] = []
        while let parent = entities[(ancestors.last ?? entity).parent] {
            ancestors.append(parent)
            if ancestors.count >= DocumentCheck.maximumInheritance { return [] }
        }
        return ancestors
    }

    /// Reads a store, and names it in SQLite's errors.
    static func reading<Result>(_ store: URL, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw explained(error, store) }
    }

    /// An error that names the store, for one of SQLite.
    static func explained(_ error: any Error, _ store: URL) -> any Error {
        guard let error = error as? SQLiteError else { return error }
        let damage = error.isCorrupt ? " is damaged or cut off" : " cannot be read"
        return CommandError("“\(store.path)”\(damage): \(error.message)")
    }

    private static func isEntityTable(_ table: Table) -> Bool {
        table.name.hasPrefix("Z") && table.name.dropFirst().first != "_" && table.columns.contains { $0.name == "Z_PK" }
    }

    /// `Z_14PEOPLE`: a number after the underscore.
    static func isJoinTable(_ name: String) -> Bool {
        name.hasPrefix("Z_") && name.dropFirst(2).first?.isASCII == true && name.dropFirst(2).first?.isNumber == true
    }

    private static let entityColumn = "Z_ENT"

    /// Whether a column is one that every row of an entity has.
    static func isBookkeeping(_ column: String) -> Bool { ["Z_PK", entityColumn, "Z_OPT"].contains(column) }
}
