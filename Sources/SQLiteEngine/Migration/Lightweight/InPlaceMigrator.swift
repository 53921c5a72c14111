import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Migrates an SQLite store in place: runs a ``LightweightMigration`` in one transaction, and updates the store's data
/// about its model.
package struct InPlaceMigrator {
    let file: StoreFile
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    let plan: MappingPlan
    private let sourceSchema: SQLSchema
    private let destinationSchema: SQLSchema
    private let destinationNames: Set<String>?
    private let metadata: [String: Any]
    private let configuration: String?
    private let defersCleanup: Bool
    private let keepsNumbers: Bool
    /// `PRAGMA schema_version` when the steps were planned.
    private let structureVersion: Int64?
    /// The migration to run.
    package let migration: LightweightMigration
    /// The deferred cleanup.
    let deferred: DeferredCleanup

    /// Plans the migration, without changing anything.
    ///
    /// - Parameters:
    ///   - file: the store's file.
    ///   - source: the model of the store.
    ///   - destination: the model to migrate to.
    ///   - plan: the mapping of each entity and property of the destination.
    ///   - configuration: the configuration of the destination model whose entities the store holds; `nil` for all.
    ///   - defersCleanup: whether removing what is no longer needed is deferred.
    ///   - keepsNumbers: whether entities keep their numbers, for programs that have the store open.
    /// - Throws: an `NSError` for a store of another version, and for one whose values would be lost.
    package init(
        _ file: StoreFile, from source: NSManagedObjectModel, to destination: NSManagedObjectModel, plan: MappingPlan,
        configuration: String?, defersCleanup: Bool = false, keepsNumbers: Bool = false
    ) throws {
        self.file = file
        self.source = source
        self.destination = destination
        self.plan = plan
        // Another process may migrate the store at any moment, so all of this is read in one state.
        func read() throws -> ([String: Any], StoreCatalog, StoreStructure, Int64?) {
            (
                try file.metadata(), try file.catalog(), try StoreStructure(file),
                try file.connection.integer("PRAGMA schema_version")
            )
        }
        let (metadata, catalog, found, version) = try file.run("read the tables of") {
            try file.connection.isInTransaction ? read() : file.connection.transaction(.deferred, read)
        }
        self.metadata = metadata
        structureVersion = version
        (self.configuration, self.defersCleanup, self.keepsNumbers) = (configuration, defersCleanup, keepsNumbers)
        let stored = Set(StoreMetadata.hashes(in: metadata).keys)
        let sourceNames = stored.isEmpty ? nil : stored
        try Self.checkVersion(file, source, metadata)
        destinationNames = plan.entityNames(
            of: destination, configuration: configuration,
            holding: sourceNames ?? Set(source.entities.compactMap(\.name)))
        let numbers = catalog.numbers(for: source)
        sourceSchema = SQLSchema(
            layout: try source.compiledLayout(), entityNames: sourceNames, numbers: numbers,
            catalog: catalog)
        // Values whose column is unknown would be lost.
        if let finding = sourceSchema.findings.first { throw finding.error(url: file.url) }
        try file.checkNumbers(of: sourceSchema)
        destinationSchema = SQLSchema(
            layout: try destination.compiledLayout(), entityNames: destinationNames,
            numbers: keepsNumbers ? Self.keptNumbers(numbers, plan) : nil)
        // The deferred cleanup of an earlier migration would be in the way.
        let left = found.existing(DeferredCleanup(metadata).sparing(sourceSchema))
        let structure = found.removing(left)
        migration = try LightweightMigration(
            plan: plan, from: sourceSchema, to: destinationSchema, structure: structure, after: left,
            defersCleanup: defersCleanup)
        deferred = migration.deferred
    }

    /// Checks that the store is still of the version for which the plan was made.
    ///
    /// - Throws: 134090 if it is not.
    private static func checkVersion(
        _ file: StoreFile, _ source: NSManagedObjectModel, _ metadata: [String: Any]
    ) throws {
        let stored = StoreMetadata.hashes(in: metadata)
        guard !stored.isEmpty else { return }
        let entities = source.entities.filter { stored[$0.name ?? ""] != nil }
        guard
            try StoreCompatibility.differences(
                entities, metadata: metadata, cached: { try file.model(orSupposed: source, leavesJoinTables: true) }
            ).isEmpty
        else { throw changedMeanwhile(file.url) }
    }

    private static func changedMeanwhile(_ url: URL) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreTimeout,
            "The store “\(url.lastPathComponent)” was changed by another process while its migration was prepared.",
            url: url, suggestion: "Migrate it again.")
    }

    /// The numbers by the destination's names. New entities are numbered after the highest number that is kept, which
    /// may give one the number of a removed entity. Programs that have the store open do not mistake its rows for that
    /// entity's: they check their model again, since the schema version has changed.
    private static func keptNumbers(_ numbers: [String: Int], _ plan: MappingPlan) -> [String: Int] {
        var kept: [String: Int] = [:]
        for entity in plan.entities {
            guard let source = entity.source, let name = entity.destination else { continue }
            kept[name] = numbers[source]
        }
        return kept
    }

    /// Migrates the store; if this fails, the store is unchanged.
    ///
    /// - Parameter progress: called with the completed part, from 0 to 1.
    /// - Throws: 134110 if the objects do not fit the new model, 134111 if a constraint is violated, and SQLite's
    ///   errors.
    package func run(progress: (Double) -> Void = { _ in }) throws {
        let external = ExternalData(store: file.url)
        let cache = try ModelCache.modelCacheData(for: destination)
        var abandoned: Set<String> = []
        let journal = FileJournal(external)
        do {
            // Other programs' views and tables that name a table must refer to the new one. Otherwise they would follow
            // the old one to its temporary name, and one that names something removed would stop the migration.
            try file.connection.execute("PRAGMA legacy_alter_table = ON")
            defer { try? file.connection.execute("PRAGMA legacy_alter_table = OFF") }
            try file.connection.transaction(.exclusive) {
                // Another process may have migrated the store while this one waited for the lock.
                let metadata = try file.metadata()
                guard try isAsPlanned(metadata) else { return }
                let version = try file.connection.integer("PRAGMA schema_version") ?? 0
                // It may also have changed the tables without another model, as the beginning of a history does.
                let current = version == structureVersion ? self : try replanned()
                try current.registerFunctions(external)
                let before = try externalFiles(of: current.sourceSchema)
                let steps = current.migration.steps
                for (index, step) in steps.enumerated() {
                    try run(step)
                    progress(Double(index + 1) / Double(steps.count + 1))
                }
                abandoned = before.subtracting(try externalFiles(of: current.destinationSchema))
                let renewed = try StoreMetadata.data(of: current.renewed(metadata), url: file.url)
                try journal.note(abandoned.sorted())
                let update = try file.connection.prepare(StoreTablesSQL.updateMetadata)
                try update.bind(renewed, at: 1)
                try update.run()
                try file.renewModelCache(cache)
                try file.forgetSearchIndexes()
                try advanceSchemaVersion(from: version)
            }
        } catch let error as SQLiteError where error.isConstraint {
            throw refusal(error)
        } catch let error as SQLiteError {
            throw MigrationError.statements(
                url: file.url, from: source, to: destination,
                SQLiteStoreError.make(
                    error, fallback: CoreDataErrorCode.migration, work: "migrate the store", url: file.url))
        }
        // Only now does nothing refer to these files any more. Those that a reader still uses are removed when the
        // store is opened next.
        if !external.removeUnread(abandoned.sorted(), file.connection) { journal.leaveUnclear() }
    }

    /// Whether the store still has the version that the steps were planned for.
    ///
    /// - Returns: `false` if it has the destination's version already.
    /// - Throws: 134090 if it has another one.
    private func isAsPlanned(_ now: [String: Any]) throws -> Bool {
        let (hashes, planned) = (StoreMetadata.hashes(in: now), StoreMetadata.hashes(in: metadata))
        if hashes == planned, DeferredCleanup(now) == DeferredCleanup(metadata) { return true }
        let entities = destination.entities.filter { destinationNames?.contains($0.name ?? "") ?? true }
        if try StoreCompatibility.differences(entities, metadata: now, cached: { try file.cachedModel() }).isEmpty {
            return false
        }
        throw Self.changedMeanwhile(file.url)
    }

    /// The same migration of the tables as they are now.
    private func replanned() throws -> InPlaceMigrator {
        try InPlaceMigrator(
            file, from: source, to: destination, plan: plan, configuration: configuration,
            defersCleanup: defersCleanup, keepsNumbers: keepsNumbers)
    }

    /// Increases the schema version if no step has, so that programs that have the store open check its model again.
    private func advanceSchemaVersion(from version: Int64) throws {
        guard try file.connection.integer("PRAGMA schema_version") == version else { return }
        try file.connection.execute("PRAGMA schema_version = \((version + 1) & 0x7FFF_FFFF)")
    }

    /// The metadata with the new model's hashes; everything else stays, including the UUID.
    private func renewed(_ metadata: [String: Any]) -> [String: Any] {
        var renewed = metadata.filter { !StoreMetadata.describesModel($0.key) }
        renewed.merge(StoreMetadata.make(for: destination, entityNames: destinationNames)) { old, _ in old }
        deferred.note(in: &renewed)
        return renewed
    }

    // MARK: Functions and files

    private func registerFunctions(_ external: ExternalData) throws {
        try file.run("prepare the migration of", fallback: CoreDataErrorCode.migration) {
            try StoreFunctions.register(on: file.connection, derived: DerivedValues())
            try NestedJSON.register(file.connection)
            try StoreFunctions.registerContent(on: file.connection, external)
            try file.connection.register(function: SQLFunctionName.inlinedContent, argumentCount: 1) { arguments in
                guard let bytes = arguments.data(at: 0) else { return .null }
                guard ExternalData.fileName(in: bytes) != nil, case .value(let content) = external.content(of: bytes)
                else { return .blob(bytes) }
                return .blob(ExternalData.inline(content))
            }
            let masks = historyMasks()
            try file.connection.register(function: SQLFunctionName.changedProperties, argumentCount: 2) { arguments in
                guard let data = arguments.data(at: 1), let convert = masks[Int(arguments.integer(at: 0))] else {
                    return .null
                }
                return convert(data).map(FunctionResult.blob) ?? .null
            }
        }
    }

    /// The conversion of the history's masks of changed properties, by the source's entity numbers.
    private func historyMasks() -> [Int: (Data) -> Data?] {
        var masks: [Int: (Data) -> Data?] = [:]
        for mapping in sourceSchema.mappings.compactMap({ $0 }) {
            guard let plan = plan.entity(source: mapping.layout.name), let name = plan.destination,
                let successor = destinationSchema.layout.entityByName[name]
            else { continue }
            let (former, names) = (HistoryProperties(mapping.layout), HistoryProperties(successor))
            masks[mapping.number] = { HistoryMask.converted($0, from: former, to: names, source: plan.source(of:)) }
        }
        return masks
    }

    /// The names of the files beside the store to which its values refer.
    private func externalFiles(of schema: SQLSchema) throws -> Set<String> {
        var names: Set<String> = []
        for mapping in schema.mappings.compactMap({ $0 }) {
            let inherited = mapping.layout.superentity?.slots.count ?? 0
            for column in mapping.columns.dropFirst(inherited).flatMap({ $0?.externalColumns ?? [] }) {
                let select = try file.connection.prepare(ExternalFileSQL.references(column, in: mapping.table))
                while try select.step() {
                    if let file = ExternalData.fileName(in: select.data(at: 0)) { names.insert(file) }
                }
            }
        }
        return names
    }
}

// The steps of a migration in place, and what their failures mean.
extension InPlaceMigrator {
    func run(_ step: MigrationStep) throws {
        switch step {
        case .run(let sql): try file.connection.execute(sql)
        case .expectNone(let sql, let violation):
            let statement = try file.connection.prepare(sql)
            guard try statement.step() else { return }
            let value = statement.columnCount > 1 ? statement.optionalString(at: 1) : nil
            throw failure(
                violation.reason,
                underlying: MigrationError.violation(violation, key: statement.integer(at: 0), value: value),
                advice: MigrationError.advice(violation))
        case .create(let sql, let columns):
            do { try file.connection.execute(sql) } catch let error as SQLiteError where error.isInStatement {
                throw failure(
                    "columns of another program do not fit the new table",
                    underlying: NSError(
                        domain: NSSQLiteErrorDomain, code: Int(error.extendedCode),
                        userInfo: [
                            NSLocalizedDescriptionKey: "Columns that are not of the model do not fit the new table "
                                + "(\(columns)): \(error.message)."
                        ]),
                    advice: "Drop the column, or declare it for the new table, and migrate the store again.")
            }
        case .compile(let sql, let trigger):
            do { try file.connection.execute(sql) } catch let error as SQLiteError where error.isInStatement {
                throw failure(
                    "the trigger \(trigger) does not fit the new tables",
                    underlying: NSError(
                        domain: NSSQLiteErrorDomain, code: Int(error.extendedCode),
                        userInfo: [
                            NSLocalizedDescriptionKey: "The trigger “\(trigger)”, which is not of the model, does not "
                                + "fit the new tables: \(error.message)."
                        ]),
                    advice: "Drop the trigger, or write it for the new tables, and migrate the store again.")
            }
        }
    }

    /// The failure of a constraint: of the model's, which are unique values, or of one that another program has added.
    func refusal(_ error: SQLiteError) -> NSError {
        func cause(_ description: String) -> NSError {
            NSError(
                domain: NSSQLiteErrorDomain, code: Int(error.extendedCode),
                userInfo: [NSLocalizedDescriptionKey: description])
        }
        if error.isDuplicate {
            return failure(
                "constraint violation during attempted migration", code: NSMigrationConstraintViolationError,
                underlying: cause("Two objects have the same values (\(error.message))."),
                advice: "Make the values unique first, or write a mapping model for this step that does.")
        }
        return failure(
            "a constraint of another program does not accept the new values",
            underlying: cause(
                "A constraint or trigger that is not of the model does not accept the new values: \(error.message)."),
            advice: "Drop what refuses the values, or change it so that it accepts them, and migrate the store again.")
    }

    func failure(
        _ reason: String, code: Int = CoreDataErrorCode.migration, underlying: NSError, advice: String
    ) -> NSError {
        MigrationError.inPlace(
            url: file.url, from: MigrationError.version(source, sibling: destination),
            to: MigrationError.version(destination), reason: reason, code: code, underlying: underlying, advice: advice)
    }
}

/// Reads single values from the JSON of a nested value that gets columns of its own.
enum NestedJSON {
    /// The SQL for the value of an element.
    static func sql(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment {
        if element.isPresenceMark { return presence(column, path.dropLast()) }
        let type: SQLFunction.NestedType = element.isJSON ? .json : .attribute(element.type)
        return .call(.nestedValue(path: path, type: type), "\(name: column)")
    }

    /// The SQL for whether there is a nested value.
    static func isPresent(_ column: String, _ path: [String]) -> SQLFragment {
        "\(presence(column, path)) IS NOT NULL"
    }

    /// The SQL for 1 if there is a nested value, and NULL otherwise.
    private static func presence(_ column: String, _ path: [String]) -> SQLFragment {
        .call(.nestedValue(path: path, type: .presence), "\(name: column)")
    }

    /// Registers the function with SQL.
    static func register(_ connection: Connection) throws {
        try connection.register(function: SQLFunctionName.nestedValue, argumentCount: 3) { arguments in
            guard let data = arguments.data(at: 0), let path = arguments.string(at: 1),
                let kind = arguments.string(at: 2)
            else { return .null }
            do {
                let keys = try JSONDecoder().decode([String].self, from: Data(path.utf8))
                return try value(in: data, at: keys, kind)
            } catch {
                return .failure("what is kept there is no JSON with a fitting “\(path)”: \(error)")
            }
        }
    }

    private static func value(in data: Data, at path: [String], _ kind: String) throws -> FunctionResult {
        var found = try NestedJSONValue(data)
        for key in path {
            guard let member = found[key] else { return .null }
            found = member
        }
        if found.isNull { return .null }
        switch kind {
        case "presence": return .integer(1)
        case "json": return .blob(try found.bytes())
        default: break
        }
        guard let type = Int(kind).flatMap({ NSAttributeType(rawValue: UInt($0)) }) else { return .null }
        switch try found.value(of: type) {
        case .integer(let number): return .integer(number)
        case .double(let number), .date(let number): return .double(number)
        case .object(let number as NSDecimalNumber): return .text(number.stringValue)
        case .object(let url as NSURL): return .text((url as URL).absoluteString)
        case .uuid(let uuid): return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .data(let data): return .blob(data)
        case .string(let text): return .text(text)
        case .null, .identifier, .object: return .null
        }
    }
}
