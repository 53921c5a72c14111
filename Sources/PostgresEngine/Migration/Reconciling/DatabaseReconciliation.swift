import CoreDataModel
import Foundation
import MigrationPlans
import ModelFiles
import PostgresConnection
import SQLGeneration
import StoreEngine

/// A store, and the steps that open it with a program's model without losing data unasked: see ``ModelReconciliation``.
struct DatabaseReconciliation: ReconcilableStore {
    let url: URL
    let reconciliation: ModelReconciliation
    let model: NSManagedObjectModel
    let isMigrationNeeded: Bool
    private let place: StorePlace
    let source: NSManagedObjectModel
    private let program: NSManagedObjectModel
    private let rules: ReconciliationRules
    private let options: [AnyHashable: Any]?
    private let stored: DatabaseOpening.StoredStore

    /// Compares a store with a program's model, without changing anything; the result is `nil` if there is no store
    /// yet.
    init?(at url: URL, program: NSManagedObjectModel, rules: ReconciliationRules, options: [AnyHashable: Any]?) throws {
        let place = try StorePlace(url, options)
        let found: (DatabaseOpening.StoredStore, NSManagedObjectModel)? = try PostgresFormat.working(
            url, options, "look at"
        ) { opening in
            try opening.stored().map { ($0, try SourceModel.find(opening, $0.metadata)) }
        }
        guard let (stored, source) = found else { return nil }
        (self.url, self.place, self.program, self.rules, self.options) = (url, place, program, rules, options)
        (self.stored, self.source) = (stored, source)
        let document = try ModelDocument(program)
        let reconciliation = ModelReconciliation(program: document, stored: try ModelDocument(source), rules: rules)
        self.reconciliation = reconciliation
        let model =
            try reconciliation.model.compiled == document.compiled
            ? program : ModelAssembler.model(reconciliation.model, versionHashes: [:])
        self.model = model
        isMigrationNeeded = !StoreCompatibility.differences(model.entities, metadata: stored.metadata) { source }
            .isEmpty
    }

    private func schema() throws -> SQLSchema {
        let names = Set(StoreMetadata.hashes(in: stored.metadata).keys)
        return SQLSchema(
            layout: try source.compiledLayout(), entityNames: names.isEmpty ? nil : names, numbers: stored.numbers,
            naming: PostgresNaming.names(in: place.schema))
    }

    private func query<Result>(_ work: String, _ body: (PostgresConnection) throws -> Result) throws -> Result {
        try PostgresFormat.working(url, options, work) { try body($0.connection) }
    }

    // MARK: Obstacles

    func losses() throws -> [CountedLoss] {
        guard !reconciliation.losses.isEmpty else { return [] }
        let schema = try schema()
        return try query("count the rows of") { connection in
            try reconciliation.losses(in: schema, hasOtherParts: PostgresColumns.hasOtherParts) {
                Int(try connection.query($0.postgres.text).integer(0, 0))
            }
        }
    }

    func sharedValues(limit: Int) throws -> [SharedValues] {
        let schema = try schema()
        let existing = TableCreation(schema).indexes
        return try reconciliation.sharedValues(in: schema, limit: limit) { mapping, columns in
            existing.contains { $0.table == mapping.table && $0.uniqueColumns == columns.map(\.name) }
        } groups: { sql, width in
            try query("read the values of") { try Self.groups(sql, width, $0) }
        }
    }

    func sharedMembers(limit: Int) throws -> [SharedMembers] {
        guard !reconciliation.exclusive.isEmpty else { return [] }
        let schema = try schema()
        return try reconciliation.sharedMembers(in: schema, limit: limit) { sql in
            try query("read the objects of") { try Self.groups(sql, 1, $0) }
        }
    }

    /// Values, each with the number of rows that have it.
    private static func groups(
        _ sql: SQLFragment, _ width: Int, _ connection: PostgresConnection
    ) throws -> [(values: [String], rows: Int)] {
        let statement = sql.postgres
        let list = (1...width).map { "g.v\($0)::text" }.joined(separator: ", ")
        let names = ((1...width).map { "v\($0)" } + ["n"]).joined(separator: ", ")
        let result = try connection.query(
            "SELECT \(list), g.n FROM (\(statement.text)) AS g(\(names))",
            ParameterBinder.parameters(statement.bindings, BindingContext()))
        return (0..<result.count).map { row in
            ((0..<width).map { spoken(result, row, $0) }, Int(result.integer(row, width)))
        }
    }

    private static func spoken(_ result: PostgresResult, _ row: Int, _ column: Int) -> String {
        result.isNull(row, column) ? "none" : "'\(result.string(row, column))'"
    }

    // MARK: Doing it

    func migrate(defersCleanup: Bool) throws {
        guard isMigrationNeeded else { return try renewIndexes() }
        var plan: MappingPlan
        do {
            plan = try MappingInference.plan(from: source, to: model, dropping: reconciliation.dropped)
        } catch {
            throw MigrationError.missingMappingModel(
                url: url, source: source, destination: model, underlying: error)
        }
        plan.emptyEntities = reconciliation.replaced
        let migration = InferredMigration(from: source, to: model, plan: plan)
        try DatabaseMigrator.run(place, migration, StoreSettings(options), isPooled: PostgresFormat.isPooled(options)) {
            _ in
        }
    }

    /// Creates the indexes that a model declares and a store of its version lacks, since version hashes do not cover
    /// indexes.
    private func renewIndexes() throws {
        let names = Set(StoreMetadata.hashes(in: stored.metadata).keys)
        let wanted = TableCreation(
            SQLSchema(
                layout: try model.compiledLayout(), entityNames: names.isEmpty ? nil : names, numbers: stored.numbers,
                naming: PostgresNaming.names(in: place.schema))
        ).indexes
        let former = TableCreation(try schema()).indexes
        let own = Set(
            try program.compiledLayout().entities.compactMap { try schema().layout.entityByName[$0.name] }
                .compactMap { try schema().mapping(of: $0)?.table })
        func differences(_ connection: PostgresConnection) throws -> (
            made: [TableCreation.IndexStatement], removed: [TableCreation.IndexStatement]
        ) {
            let present = try DatabaseStructure(place, connection).indexes
            func isPresent(_ index: TableCreation.IndexStatement) -> Bool {
                present[index.table]?.contains(index.name) ?? false
            }
            return (
                wanted.filter { own.contains($0.table) && !isPresent($0) },
                former.filter { index in
                    own.contains(index.table) && isPresent(index) && !wanted.contains { $0.name == index.name }
                        && isReleased(index)
                }
            )
        }
        let first = try query("look at the indexes of", differences)
        guard !first.made.isEmpty || !first.removed.isEmpty else { return }
        let cache = try ModelCache.modelCacheData(for: model)
        do {
            try DatabaseSession.run(place, StoreSettings(options), isPooled: PostgresFormat.isPooled(options)) {
                connection, _ in
                try DatabaseOpening(place, connection).lock()
                try connection.execute(OpenDatabase.lockAlone(place))
                // Another program may have changed the store while this one waited.
                guard try DatabaseOpening(place, connection).fits(model, nil) else { throw MigrationError.changed(url) }
                let (made, removed) = try differences(connection)
                for index in removed { try connection.execute(index.removal) }
                for index in made { try connection.execute(index.creation) }
                var parameters = PostgresParameters()
                parameters.append(place.schema)
                parameters.append(cache)
                try connection.query("UPDATE pippin.stores SET model = $2 WHERE schema_name = $1", parameters)
            }
        } catch let error as PostgresError where error.isUniqueViolation {
            throw StoreError.make(
                NSMigrationConstraintViolationError,
                "The store “\(place.name)” has objects with the same values where these must be unique "
                    + "(\(error.detail ?? error.message)).", url: place.shownURL,
                suggestion: "Change or delete all but one of them first.",
                underlying: PostgresStoreError.make(
                    error, fallback: CoreDataErrorCode.migration, work: "make the indexes of", place: place))
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.migration, work: "make the indexes of", place: place)
        }
    }

    /// Whether the program has named the constraint as one to give up.
    private func isReleased(_ index: TableCreation.IndexStatement) -> Bool {
        rules.releasedConstraints.contains { entity, constraints in
            guard let schema = try? schema(),
                let mapping = schema.layout.entityByName[reconciliation.formerName(ofEntity: entity) ?? entity].flatMap(
                    {
                        schema.mapping(of: $0)
                    }), mapping.table == index.table
            else { return false }
            return constraints.contains { constraint in
                !constraint.isEmpty && index.uniqueColumns == constraint.compactMap { mapping.column(named: $0)?.name }
            }
        }
    }
}
