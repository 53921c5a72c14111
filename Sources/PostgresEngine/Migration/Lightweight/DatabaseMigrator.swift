import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Migrates a store in place: plans a ``DatabaseMigration``, runs it in a transaction that locks out all
/// saves, and updates the stored model and version.
struct DatabaseMigrator {
    let opening: DatabaseOpening
    let migration: InferredMigration
    private let stored: DatabaseOpening.StoredStore
    private let sourceSchema: SQLSchema
    private let destinationSchema: SQLSchema
    private let destinationNames: Set<String>?
    /// The steps to run.
    let steps: [MigrationStep]
    /// What the steps leave to the program that runs them; empty if they are all of the migration.
    private let leftToProgram: [String]

    private var place: StorePlace { opening.place }
    private var url: URL { place.shownURL ?? URL(fileURLWithPath: "/") }

    /// Plans the steps; nothing is changed yet.
    ///
    /// - Throws: 134090 for a store of another version than the migration's source, and 134110 for one with tables that
    ///   would lose what others have added to them.
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
        destinationNames = migration.plan.entityNames(
            of: destination, configuration: migration.configuration,
            holding: Set(hashes.isEmpty ? migration.source.entities.compactMap(\.name) : Array(hashes.keys)))
        var numbers: [String: Int] = [:]
        // Programs that have the store open keep reading it, so entities keep their numbers.
        for entity in migration.plan.entities {
            if let source = entity.source, let name = entity.destination { numbers[name] = stored.numbers[source] }
        }
        destinationSchema = SQLSchema(
            layout: try destination.compiledLayout(), entityNames: destinationNames, numbers: numbers, naming: naming)
        try Partitioning.check(destinationSchema)
        let structure = try DatabaseStructure(opening.place, opening.connection, readsHistory: true)
        let rows = try DatabaseMigration(
            plan: migration.plan, from: sourceSchema, to: destinationSchema, structure: structure)
        try TableAdditions(to: rows.replaced, in: structure).check(opening.place)
        let schema = destinationSchema
        let computed = try DerivedColumn.all(in: schema).filter {
            try rows.needsValues($0) && $0.fill(in: schema) == nil
        }
        let kept = try Tombstones.kept(
            among: Self.renamed(schema, migration.plan).keys.sorted(), of: opening.place, opening.connection)
        let derived = computed.map { ($0.mapping.layout.name, $0.mapping.layout.slots[$0.slot].name) }
        leftToProgram =
            derived.map { "the values of the derived attribute “\($0).\($1)”" }
            + kept.compactMap { schema.mapping(number: $0)?.layout.name }.map {
                "what the history keeps of deleted objects of “\($0)”"
            }
        steps =
            try rows.steps + Self.bookkeeping(opening.place, stored, destinationSchema, destination, destinationNames)
    }

    /// Renews the bookkeeping about the store.
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

    /// Migrates a store, or leaves it unchanged. A program that does so at the same moment waits, and finds it
    /// migrated.
    ///
    /// - Throws: 134110 if the objects do not fit the new model, 134111 if a constraint is violated, and the server's
    ///   errors.
    static func run(
        _ place: StorePlace, _ migration: InferredMigration, _ settings: StoreSettings, isPooled: Bool,
        progress: (Double) -> Void
    ) throws {
        let url = place.shownURL ?? URL(fileURLWithPath: "/")
        var planned: DatabaseMigrator?
        do {
            try DatabaseSession.run(place, settings, isPooled: isPooled) { connection, _ in
                let opening = DatabaseOpening(place, connection)
                try opening.lock()
                try connection.execute(OpenDatabase.lockAlone(place))
                // Another program may have migrated it while this one waited.
                if try opening.fits(migration.destination, migration.configuration) { return }
                let migrator = try DatabaseMigrator(opening, migration)
                planned = migrator
                try migrator.run(progress)
            }
        } catch let error as PostgresError {
            throw explained(error, place, url, migration, planned)
        }
    }

    private func run(_ progress: (Double) -> Void) throws {
        try opening.connection.execute(MigrationScript.allDigits)
        for (index, step) in steps.enumerated() {
            switch step {
            case .run(let sql), .compile(let sql, _), .create(let sql, _): try opening.connection.execute(sql)
            case .expectNone(let sql, let violation):
                let found = try opening.connection.query(sql)
                if found.count > 0 {
                    let value: String? = found.columnCount > 1 ? found.string(0, 1) : nil
                    throw Self.failure(
                        migration, url, violation.reason,
                        underlying: MigrationError.violation(violation, key: found.integer(0, 0), value: value),
                        advice: MigrationError.advice(violation))
                }
            }
            progress(Double(index + 1) / Double(steps.count + 1))
        }
        try foldDerivedValues()
        try renameTombstones()
        // The transaction may go on with another step.
        try opening.connection.execute("SET CONSTRAINTS ALL DEFERRED")
    }

    /// Recomputes the derived attributes whose values are computed here, and not by the database.
    private func foldDerivedValues() throws {
        let folded = try DerivedColumn.all(in: destinationSchema).filter { try $0.fill(in: destinationSchema) == nil }
        guard !folded.isEmpty else { return }
        let database = try OpenDatabase(place, destinationSchema, within: opening.connection)
        for column in folded { _ = try column.update(nil, in: database) }
    }

    /// Renames the attributes in tombstones, which are keyed by attribute name.
    private func renameTombstones() throws {
        try Tombstones.rename(Self.renamed(destinationSchema, migration.plan), of: place, opening.connection)
    }

    /// The new names of renamed attributes by the old ones, by the numbers of the entities.
    private static func renamed(_ schema: SQLSchema, _ plan: MappingPlan) -> [Int: [String: String]] {
        var renamed: [Int: [String: String]] = [:]
        for mapping in schema.mappings.compactMap({ $0 }) {
            guard let plan = plan.entity(destination: mapping.layout.name) else { continue }
            let names = plan.attributes.compactMap { attribute -> (String, String)? in
                attribute.source.flatMap { $0 == attribute.name ? nil : ($0, attribute.name) }
            }
            if !names.isEmpty { renamed[mapping.number] = Dictionary(names, uniquingKeysWith: { first, _ in first }) }
        }
        return renamed
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
        _ planned: DatabaseMigrator?
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
        if error.isPermissionDenied, let planned {
            return noPermission(error, place, url, planned, underlying: made)
        }
        return MigrationError.statements(url: url, from: migration.source, to: migration.destination, made)
    }
}

// The statements for a role that may change the tables.
extension DatabaseMigrator {
    /// All of the migration as statements, which fail if the store has been migrated since.
    ///
    /// - Throws: 134110 where values are computed by the program that migrates, which statements would leave behind.
    func script() throws -> String {
        guard leftToProgram.isEmpty else {
            throw StoreError.make(
                CoreDataErrorCode.migration,
                "The store “\(opening.place.name)” cannot be migrated by statements alone, which would leave behind "
                    + "\(leftToProgram.joined(separator: ", ")).", url: opening.place.shownURL,
                suggestion: "Have a program migrate it that connects as the owner of the tables.")
        }
        let present = "SELECT generation FROM pippin.stores WHERE schema_name = \(quotedText(opening.place.schema))"
        let isAsPlanned = MigrationStep.expectNone(
            "SELECT 1 WHERE (\(present)) IS DISTINCT FROM \(stored.generation)",
            MigrationViolation(entity: "", reason: "The store was changed after these statements were planned"))
        return MigrationScript.text([isAsPlanned] + steps, of: opening.place)
    }

    private static func noPermission(
        _ error: PostgresError, _ place: StorePlace, _ url: URL, _ planned: DatabaseMigrator, underlying: any Error
    ) -> NSError {
        var info: [String: Any] = [NSPostgreSQLStateErrorKey: error.state]
        let begin = "The store “\(place.name)” cannot be migrated: \(error.message)."
        let statements: String
        do { statements = try planned.script() } catch {
            let reason = error as NSError
            return StoreError.make(
                CocoaError.Code.fileWriteNoPermission.rawValue, "\(begin) \(reason.localizedDescription)", url: url,
                suggestion: reason.localizedRecoverySuggestion, underlying: underlying, userInfo: info)
        }
        info[MigrationScript.userInfoKey] = statements
        return StoreError.make(
            CocoaError.Code.fileWriteNoPermission.rawValue,
            "\(begin) The owner of its tables must run:\n\(statements)", url: url,
            suggestion: "Have the owner of the tables run these statements, or the program that migrates.",
            underlying: underlying, userInfo: info)
    }
}

/// The statements of a migration, to be run by hand.
package enum MigrationScript {
    /// The key in an error's user info for the statements.
    static let userInfoKey = "NSPostgreSQLStatements"

    /// Has numbers that become decimal ones keep all their digits, whatever a role or a database has set.
    static let allDigits = "SET LOCAL extra_float_digits = 1"

    /// One transaction, which fails with an error if one of its checks finds a row.
    package static func text(_ steps: [MigrationStep], of place: StorePlace) -> String {
        let lines = steps.map { step in
            switch step {
            case .run(let sql), .compile(let sql, _), .create(let sql, _): "\(sql);"
            case .expectNone(let sql, let violation):
                "DO "
                    + quotedText(
                        "BEGIN IF EXISTS (\(sql)) THEN RAISE EXCEPTION '%', \(quotedText(violation.reason)); END IF; END"
                    )
                    + ";"
            }
        }
        return (["BEGIN;", "\(allDigits);", "\(OpenDatabase.lockAlone(place));"] + lines + ["COMMIT;"]).joined(
            separator: "\n")
    }
}

extension DatabaseOpening {
    /// Whether a store already has a model's version.
    func fits(_ model: NSManagedObjectModel, _ configuration: String?) throws -> Bool {
        guard let stored = try stored() else { return false }
        return StoreVersion(
            metadata: stored.metadata, model: try cachedModel(), hasHistory: stored.keepsHistory
        ).fits(model, configuration: configuration)
    }
}

// The steps after the rows have been moved: references, rights, the history.
extension DatabaseMigration {
    mutating func addReferences(dropped: Bool) {
        let former = source.references
        for reference in destination.references {
            let isFormer =
                former.contains(reference) && (structure.references[reference.table] ?? []).contains(reference.name)
            if isFormer, !dropped { continue }
            if !former.contains(where: { $0.table == reference.table && $0.column == reference.column }) {
                // Nothing has ensured so far that the referenced rows exist.
                let own: SQLFragment = "\(name: reference.table).\(name: reference.column)"
                let found: SQLFragment =
                    "SELECT 1 FROM \(name: reference.destination) d WHERE \(.key, of: "d") = \(own)"
                addStep([
                    "UPDATE \(name: reference.table) SET \(name: reference.column) = NULL WHERE \(name: reference.column) IS NOT NULL AND NOT EXISTS \(.select(found))"
                ])
            }
            addStep(reference.creation)
        }
        if !dropped {
            for reference in former
            where !destination.references.contains(reference)
                && (structure.references[reference.table] ?? []).contains(reference.name)
            {
                guard let place = places[reference.table], place != Self.formerName(reference.table) else { continue }
                addStep("\(alter(place)) DROP CONSTRAINT IF EXISTS \(quotedName(reference.name))")
            }
            return
        }
        for join in destination.tables where joins.kept.contains(join.table) {
            for reference in join.references { addStep(reference.creation) }
        }
    }

    /// Gives new tables the owner of the former ones whose rows they take, and grants the rights on these.
    mutating func grant() {
        let new = destination.tables.map(\.table).filter { table in
            joins.created.contains(table) || tables.contains { $0.table == table && $0.action != .alter }
        }
        for table in new {
            let (sources, all) = (tables.first { $0.table == table }?.sources ?? [table], source.tables.map(\.table))
            if let owner = structure.owner(fromRowsOf: sources, orAll: all) { give(table, to: owner) }
            for grant in structure.grants(fromRowsOf: sources, orAll: all) {
                let role = grant.role.isEmpty ? "PUBLIC" : quotedName(grant.role)
                if !grant.isOfSequence {
                    addStep("GRANT \(grant.right) ON \(quotedName(table)) TO \(role)")
                } else if !joins.created.contains(table) {
                    // Its name is the server's choice.
                    let sequence = "pg_get_serial_sequence(\(quotedText(quotedName(table))), '\(ColumnName.key)')"
                    let statement =
                        "EXECUTE 'GRANT \(grant.right) ON SEQUENCE ' || \(sequence) || \(quotedText(" TO " + role))"
                    addStep("DO \(quotedText("BEGIN \(statement); END"))")
                }
            }
        }
    }

    /// Another role may run the statements than the one for which they are planned.
    private mutating func give(_ table: String, to owner: DatabaseStructure.Owner) {
        guard owner.isCurrent else { return addStep(DatabaseStructure.giving(table, to: owner)) }
        let root = pair.destinationMappings(in: table).first { $0.layout.superentity == nil }
        let parts = root.flatMap { try? Partitioning($0) }?.parts(of: table) ?? []
        for name in [table] + parts { addStep("\(alter(name)) OWNER TO \(quotedName(owner.role))") }
    }

    /// Adapts the history to the entities' new properties, and removes the changes of removed entities.
    mutating func history() {
        guard let table = pair.destinationMappings.first?.table else { return }
        let schema = quotedText(QualifiedName.schema(table))
        let removed = pair.sourceMappings.filter { pair.successor($0.layout) == nil }.map(\.number)
        if !removed.isEmpty {
            let list = removed.map(String.init).joined(separator: ", ")
            addStep("DELETE FROM pippin.changes WHERE schema_name = \(schema) AND entity IN (\(list))")
        }
        var values: [String] = []
        let dialect = PostgresDialect()
        for (entity, mask) in structure.masks {
            guard let former = pair.source.mapping(number: entity), let successor = pair.successor(former.layout),
                let plan = pair.plan(for: successor)
            else { continue }
            let new = HistoryMask.converted(
                mask, from: .init(former.layout), to: .init(successor.layout), source: plan.source(of:))
            guard new != mask else { continue }
            let converted = new.map { dialect.literal(.blob($0)) } ?? "NULL::bytea"
            values.append("(\(entity), \(dialect.literal(.blob(mask))), \(converted))")
        }
        guard !values.isEmpty else { return }
        addStep(
            "UPDATE pippin.changes c SET columns = m.new FROM (VALUES \(values.joined(separator: ", "))) AS m(entity, old, new) "
                + "WHERE c.schema_name = \(schema) AND c.entity = m.entity AND c.columns = m.old")
    }
}
