import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import SQLGeneration
import StoreEngine

extension PostgresFormat: MigratableFormat {
    package static func version(of url: URL, options: [AnyHashable: Any]?) throws -> StoreVersion {
        try working(url, options, "read the version of") { opening in
            guard let stored = try opening.stored() else { throw missing(opening.place) }
            return StoreVersion(
                metadata: stored.metadata, model: try opening.cachedModel(), hasHistory: stored.keepsHistory)
        }
    }

    package static func sourceModel(
        of url: URL, near destination: NSManagedObjectModel?, options: [AnyHashable: Any]?
    ) throws -> NSManagedObjectModel {
        try working(url, options, "read the model of") { opening in
            guard let stored = try opening.stored() else {
                throw StoreError.make(
                    CocoaError.Code.fileReadNoSuchFile.rawValue, missing(opening.place).localizedDescription,
                    url: opening.place.shownURL)
            }
            return try SourceModel.find(opening, stored.metadata)
        }
    }

    package static func prepareMigration(of url: URL, options: [AnyHashable: Any]?) throws {}

    // MARK: In place

    package static func steps(of migration: InferredMigration, at url: URL) throws -> [MigrationStep] {
        try working(url, nil, "plan the migration of") { opening in
            try opening.connection.transaction(.snapshot) { try DatabaseMigrator(opening, migration).steps }
        }
    }

    /// A migration as statements, for a role that may change the tables.
    ///
    /// - Parameters:
    ///   - migration: the migration.
    ///   - url: the location of the store.
    /// - Returns: one transaction.
    /// - Throws: 134110 for a migration that statements alone cannot make, and the errors of `steps(of:at:)`.
    package static func script(of migration: InferredMigration, at url: URL) throws -> String {
        try working(url, nil, "plan the migration of") { opening in
            try opening.connection.transaction(.snapshot) { try DatabaseMigrator(opening, migration).script() }
        }
    }

    package static func migrate(
        _ url: URL, by migration: InferredMigration, options: [AnyHashable: Any]?, defersCleanup: Bool,
        progress: (Double) -> Void
    ) throws {
        try DatabaseMigrator.run(
            StorePlace(url, options), migration, StoreSettings(options), isPooled: isPooled(options), progress: progress
        )
    }

    package static func alone(_ url: URL, options: [AnyHashable: Any]?, _ work: () throws -> Void) throws {
        let place = try StorePlace(url, options)
        let settings = StoreSettings(options)
        var opening: DatabaseOpening?
        do {
            opening = try DatabaseOpening(place, settings, isPooled: isPooled(options))
            try opening?.beginAlone(settings)
        } catch { throw converted(error, place) }
        // The lock ends with the connection. If this was lost, the work is done nevertheless.
        defer { try? opening?.connection.execute("ROLLBACK") }
        try work()
    }

    // MARK: By a successor

    package static func succeed(
        _ url: URL, options: [AnyHashable: Any]?, failing: (any Error) -> any Error,
        _ make: (any SuccessorPlaces) throws -> URL?
    ) throws {
        let place = try StorePlace(url, options)
        do {
            try DatabaseSession.run(place, StoreSettings(options), isPooled: isPooled(options)) { connection, session in
                let opening = DatabaseOpening(place, connection)
                try opening.lock()
                try connection.execute(OpenDatabase.lockAlone(place))
                try opening.lockTables()
                let places = SuccessorSchemas(place, connection, session, url)
                guard let made = try make(places) else { return try places.removeAll() }
                do {
                    try opening.replacedAdditions().check(place)
                    try StoreSwap(place, StorePlace(made, options), connection).run()
                    try places.removeAll()
                } catch { throw failing(converted(error, place)) }
            }
        } catch { throw converted(error, place) }
    }

    private static func converted(_ error: any Error, _ place: StorePlace) -> any Error {
        PostgresStoreError.make(
            error, fallback: CoreDataErrorCode.migration, work: "migrate the store", place: place)
    }

    package static func continuity(of url: URL, options: [AnyHashable: Any]?) throws -> any StoreContinuity {
        try working(url, options, "prepare the migration of") { try DatabaseContinuity($0, url, options) }
    }

    // MARK: Around it

    package static func areOneStore(
        _ url: URL, _ options: [AnyHashable: Any]?, _ otherURL: URL, _ otherOptions: [AnyHashable: Any]?
    ) -> Bool {
        guard let place = try? StorePlace(url, options), let other = try? StorePlace(otherURL, otherOptions) else {
            return false
        }
        if place.isSame(as: other) { return true }
        // How to connect may differ.
        let strings = [options, otherOptions].map { $0?[NSPostgreSQLConnectionStringOption] as? String }
        return place.schema == other.schema && strings[0] == strings[1] && (strings[0] != nil || url == otherURL)
    }

    package static func exists(at url: URL, options: [AnyHashable: Any]?) throws -> Bool {
        try working(url, options, "look at") { try $0.stored() != nil }
    }

    package static func protect(_ place: URL, like store: URL) {}

    package static func remove(at url: URL, options: [AnyHashable: Any]?) throws {
        try destroy(at: url, options: options)
    }

    package static func removeLeftovers(of url: URL) {}

    package static func reconciliation(
        at url: URL, program: NSManagedObjectModel, rules: ReconciliationRules, options: [AnyHashable: Any]?
    ) throws -> (any ReconcilableStore)? {
        try DatabaseReconciliation(
            at: url, program: program, rules: rules, options: options)
    }
}

extension DatabaseOpening {
    /// Keeps everybody from writing to the store's tables, and from altering them, until the transaction ends: what
    /// plain SQL writes after the rows were read would be lost with the former tables.
    fileprivate func lockTables() throws {
        guard try stored() != nil else { return }
        let tables = try TableGrants.tables(place, connection).map {
            quotedName(QualifiedName.make(schema: place.schema, name: $0))
        }
        guard !tables.isEmpty else { return }
        do {
            try connection.part {
                try connection.execute("LOCK TABLE \(tables.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")
            }
        } catch let error as PostgresError where error.isPermissionDenied {
            // Such a role cannot replace the tables either, and gets the error of that.
        }
    }

    /// What others have added to the store's tables, all of which a successor replaces.
    fileprivate func replacedAdditions() throws -> TableAdditions {
        guard let stored = try stored() else { throw PostgresFormat.missing(place) }
        let names = Set(StoreMetadata.hashes(in: stored.metadata).keys)
        let schema = SQLSchema(
            layout: try SourceModel.find(self, stored.metadata).compiledLayout(),
            entityNames: names.isEmpty ? nil : names, numbers: stored.numbers,
            naming: PostgresNaming.names(in: place.schema))
        return TableAdditions(to: TableCreation(schema).tables, in: try DatabaseStructure(place, connection))
    }
}

/// Finds the model of a store's version.
enum SourceModel {
    /// The store's own copy of its model, or a version of the models in the bundles that has the store's hashes.
    ///
    /// - Throws: 134130 if there is none.
    static func find(_ opening: DatabaseOpening, _ metadata: [String: Any]) throws -> NSManagedObjectModel {
        let copy = try opening.cachedModel()
        if let copy, copy.unreadProperties.isEmpty { return copy }
        if let model = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata) { return model }
        throw MigrationError.missingSourceModel(
            url: opening.place.shownURL ?? URL(fileURLWithPath: "/"), metadata: metadata,
            unread: copy?.unreadProperties ?? [])
    }
}
