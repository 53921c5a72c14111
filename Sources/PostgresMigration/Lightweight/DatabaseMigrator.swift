import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import PostgresEngine
import SQLGeneration
import StoreEngine

/// Migrates a store in its place: works out a ``DatabaseMigration`` and runs it, in a transaction that keeps all others from saving,
/// and renews what the database says of the model.
struct DatabaseMigrator {
    let opening: DatabaseOpening
    let migration: InferredMigration
    private let stored: DatabaseOpening.StoredStore
    private let sourceSchema: SQLSchema
    private let destinationSchema: SQLSchema
    private let destinationNames: Set<String>?
    /// What is run.
    let steps: [MigrationStep]

    private var place: StorePlace { opening.place }
    private var url: URL { place.shownURL ?? URL(fileURLWithPath: "/") }

    /// Works out what is to be done; nothing is changed yet.
    ///
    /// - Throws: 134090 for a store that is of another version than the migration begins with.
    init(_ opening: DatabaseOpening, _ migration: InferredMigration) throws {
        self.opening = opening
        self.migration = migration
        guard let stored = try opening.stored() else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "There is no store in “\(opening.place.name)”.",
                url: opening.place.shownURL)
        }
        self.stored = stored
        let hashes = StoreMetadata.hashes(in: stored.metadata)
        let known = migration.source.entities.filter { hashes[$0.name ?? ""] != nil }
        guard
            try StoreCompatibility.differences(
                known, metadata: stored.metadata, cached: { try opening.cachedModel() }
            ).isEmpty
        else { throw MigrationError.changed(opening.place.shownURL ?? URL(fileURLWithPath: "/")) }
        let naming = PostgresNaming.names(in: opening.place.schema)
        sourceSchema = SQLSchema(
            layout: try migration.source.compiledLayout(), entityNames: hashes.isEmpty ? nil : Set(hashes.keys),
            numbers: stored.numbers, naming: naming)
        let destination = migration.destination
        let entities = destination.entities(forConfigurationName: migration.configuration) ?? destination.entities
        destinationNames = entities.count == destination.entities.count ? nil : Set(entities.compactMap(\.name))
        var numbers: [String: Int] = [:]
        // Programs that have the store open go on reading it, so that entities keep their numbers.
        for entity in migration.plan.entities {
            if let source = entity.source, let name = entity.destination { numbers[name] = stored.numbers[source] }
        }
        destinationSchema = SQLSchema(
            layout: try destination.compiledLayout(), entityNames: destinationNames, numbers: numbers, naming: naming)
        try Partitioning.check(destinationSchema)
        let structure = try DatabaseStructure(opening.place, opening.connection)
        let rows = try DatabaseMigration(
            plan: migration.plan, from: sourceSchema, to: destinationSchema, structure: structure)
        steps =
            try rows.steps + Self.bookkeeping(opening.place, stored, destinationSchema, destination, destinationNames)
    }

    /// What the database says of the store, anew.
    private static func bookkeeping(
        _ place: StorePlace, _ stored: DatabaseOpening.StoredStore, _ schema: SQLSchema, _ model: NSManagedObjectModel,
        _ names: Set<String>?
    ) throws -> [MigrationStep] {
        var renewed = stored.metadata.filter { !StoreMetadata.describesModel($0.key) }
        renewed.merge(StoreMetadata.make(for: model, entityNames: names, type: PostgresFormat.type)) { old, _ in old }
        let dialect = PostgresDialect()
        let metadata = dialect.literal(
            .blob(try StoreMetadata.data(of: renewed, url: place.shownURL ?? URL(fileURLWithPath: "/"))))
        let cache = dialect.literal(.blob(try ModelCache.modelCacheData(for: model)))
        return
            ([
                "UPDATE pippin.stores SET metadata = \(metadata), model = \(cache), generation = generation + 1 "
                    + "WHERE schema_name = \(quotedText(place.schema))"
            ] + Bookkeeping.statements(of: schema, in: place.schema) + [
                "SELECT pg_notify('\(Bookkeeping.schema)', \(quotedText(place.schema)))"
            ]).map(MigrationStep.run)
    }

    // MARK: Running

    /// Migrates a store, or leaves it as it was. Who comes at the same moment waits, and finds it done.
    ///
    /// - Throws: 134110 when the objects do not fit the new model, 134111 when a constraint does not hold, and what the server reports.
    static func run(
        _ place: StorePlace, _ migration: InferredMigration, _ settings: StoreSettings, isPooled: Bool,
        progress: (Double) -> Void
    ) throws {
        let url = place.shownURL ?? URL(fileURLWithPath: "/")
        var planned: [MigrationStep] = []
        do {
            try DatabaseSession.run(place, settings, isPooled: isPooled) { connection, _ in
                let opening = DatabaseOpening(place, connection)
                try opening.lock()
                try connection.execute(OpenDatabase.lockAlone(place))
                // Another program may have been faster, while this one waited.
                if try opening.fits(migration.destination, migration.configuration) { return }
                let migrator = try DatabaseMigrator(opening, migration)
                planned = migrator.steps
                try migrator.run(progress)
            }
        } catch let error as PostgresError {
            throw explained(error, place, url, migration, planned)
        }
    }

    private func run(_ progress: (Double) -> Void) throws {
        for (index, step) in steps.enumerated() {
            switch step {
            case .run(let sql): try opening.connection.execute(sql)
            case .expectNone(let sql, let violation):
                if try opening.connection.query(sql).count > 0 {
                    throw Self.failure(
                        migration, url, violation.reason, underlying: MigrationError.violation(violation),
                        advice: MigrationError.advice(violation))
                }
            }
            progress(Double(index + 1) / Double(steps.count + 1))
        }
        try foldDerivedValues()
        try renameTombstones()
        // The transaction may go on with the next step.
        try opening.connection.execute("SET CONSTRAINTS ALL DEFERRED")
    }

    /// Derived attributes whose values are made here, and not by the database.
    private func foldDerivedValues() throws {
        let folded = try DerivedColumn.all(in: destinationSchema).filter { try $0.fill(in: destinationSchema) == nil }
        guard !folded.isEmpty else { return }
        let database = try OpenDatabase(place, destinationSchema, within: opening.connection)
        for column in folded { _ = try column.update(nil, in: database) }
    }

    /// What deleted objects have left is known by the names of their attributes.
    private func renameTombstones() throws {
        var renamed: [Int: [String: String]] = [:]
        for mapping in destinationSchema.mappings.compactMap({ $0 }) {
            guard let plan = migration.plan.entity(destination: mapping.layout.name) else { continue }
            let names = plan.attributes.compactMap { attribute -> (String, String)? in
                attribute.source.flatMap { $0 == attribute.name ? nil : ($0, attribute.name) }
            }
            if !names.isEmpty { renamed[mapping.number] = Dictionary(names, uniquingKeysWith: { first, _ in first }) }
        }
        try Tombstones.rename(renamed, of: place, opening.connection)
    }

    // MARK: Errors

    private static func failure(
        _ migration: InferredMigration, _ url: URL, _ reason: String, code: Int = CoreDataErrorCode.migration,
        underlying: NSError, advice: String
    ) -> NSError {
        MigrationError.inPlace(
            url: url, from: MigrationError.version(migration.source, sibling: migration.destination),
            to: MigrationError.version(migration.destination), reason: reason, code: code, underlying: underlying,
            advice: advice)
    }

    private static func explained(
        _ error: PostgresError, _ place: StorePlace, _ url: URL, _ migration: InferredMigration,
        _ steps: [MigrationStep]
    ) -> any Error {
        let made = PostgresStoreError.make(
            error, fallback: CoreDataErrorCode.migration, work: "migrate the store", place: place)
        if error.isUniqueViolation {
            return failure(
                migration, url, "constraint violation during attempted migration",
                code: NSMigrationConstraintViolationError,
                underlying: StoreError.make(
                    CoreDataErrorCode.migration,
                    "Two objects have the same values (\(error.detail ?? error.message)).", underlying: made),
                advice: "Make the values unique first, or write a mapping model for this step that does.")
        }
        if error.isPermissionDenied, !steps.isEmpty {
            let statements = MigrationScript.text(steps, of: place)
            return StoreError.make(
                CocoaError.Code.fileWriteNoPermission.rawValue,
                "The store “\(place.name)” cannot be migrated: \(error.message). The owner of its tables must run:\n\(statements)",
                url: url,
                suggestion: "Have the owner of the tables run these statements, or the program that migrates.",
                underlying: made,
                userInfo: [NSPostgreSQLStateErrorKey: error.state, MigrationScript.userInfoKey: statements])
        }
        return MigrationError.statements(url: url, from: migration.source, to: migration.destination, made)
    }
}

/// The statements of a migration, for somebody to run.
package enum MigrationScript {
    /// The key in an error's user info under which they are.
    static let userInfoKey = "NSPostgreSQLStatements"

    /// One transaction, which ends by an error where something must not be there and is.
    package static func text(_ steps: [MigrationStep], of place: StorePlace) -> String {
        let lines = steps.map { step in
            switch step {
            case .run(let sql): "\(sql);"
            case .expectNone(let sql, let violation):
                "DO $check$ BEGIN IF EXISTS (\(sql)) THEN RAISE EXCEPTION '%', \(quotedText(violation.reason)); END IF; END $check$;"
            }
        }
        return (["BEGIN;", "\(OpenDatabase.lockAlone(place));"] + lines + ["COMMIT;"]).joined(separator: "\n")
    }
}

extension DatabaseOpening {
    /// Whether a store is of a model's version already.
    func fits(_ model: NSManagedObjectModel, _ configuration: String?) throws -> Bool {
        guard let stored = try stored() else { return false }
        return StoreVersion(
            metadata: stored.metadata, model: try cachedModel(), hasHistory: stored.keepsHistory
        ).fits(model, configuration: configuration)
    }
}
