import CoreDataModel
import Foundation
import StoreEngine

/// A format of stores that can be migrated.
package protocol MigratableFormat: StoreFormat {
    /// The version of a store.
    static func version(of url: URL, options: [AnyHashable: Any]?) throws -> StoreVersion

    /// The model of a store: its own copy, or a version of the models in the bundles with the store's hashes.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - destination: a model whose other versions, in the package from which it was read, are searched too.
    ///   - options: the options with which the store is opened.
    /// - Returns: the model.
    /// - Throws: 134130 if there is none.
    static func sourceModel(
        of url: URL, near destination: NSManagedObjectModel?, options: [AnyHashable: Any]?
    ) throws -> NSManagedObjectModel

    /// Prepares a store for a migration, without changing its content.
    static func prepareMigration(of url: URL, options: [AnyHashable: Any]?) throws

    // MARK: In place

    /// Whether a store of the right version has columns with names of an earlier version of Pippin, which a migration
    /// to the same model gives those of Core Data.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - model: the model of the store.
    ///   - options: the options with which the store is opened.
    /// - Returns: whether it has any.
    /// - Throws: the errors of opening a store.
    static func hasFormerNames(
        of url: URL, _ model: NSManagedObjectModel, options: [AnyHashable: Any]?
    ) throws -> Bool

    /// The steps of an in-place migration; nothing is changed.
    static func steps(of migration: InferredMigration, at url: URL) throws -> [MigrationStep]

    /// Migrates a store in place, in one transaction; if this fails, the store is unchanged.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - migration: the inferred migration between the two versions.
    ///   - options: the options with which the store is opened.
    ///   - defersCleanup: whether removing what is no longer needed is deferred.
    ///   - progress: called with the completed part, from 0 to 1.
    /// - Throws: 134110 if the objects do not fit the new model, 134111 if a constraint is violated, 134090 if somebody
    ///   else migrated the store meanwhile, and the store's errors.
    static func migrate(
        _ url: URL, by migration: InferredMigration, options: [AnyHashable: Any]?, defersCleanup: Bool,
        progress: (Double) -> Void
    ) throws

    /// Does work that consists of several migrations while nobody else does such work with the store.
    ///
    /// - Throws: 134090 if somebody else does it for longer than the timeout in the options, and the errors of the
    ///   work.
    static func alone(_ url: URL, options: [AnyHashable: Any]?, _ work: () throws -> Void) throws

    // MARK: By a successor

    /// Makes the successor of a store, and replaces the store by it as a whole. Nobody else writes to the store
    /// meanwhile: other writers wait, and then find another version of the model.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - options: the options with which the store is opened.
    ///   - failing: makes the error of a failed replacement.
    ///   - make: makes the successor at one of the places that it receives, and returns its place; `nil` if none is
    ///     needed any more. It is called again if somebody has written to the store just before its replacement.
    /// - Throws: 134090 if somebody else is migrating the store, or keeps it locked; the errors of the closures, and
    ///   the store's errors. The store is then unchanged.
    static func succeed(
        _ url: URL, options: [AnyHashable: Any]?, failing: (any Error) -> any Error,
        _ make: (any SuccessorPlaces) throws -> URL?
    ) throws

    /// The data that a successor takes over from a store.
    static func continuity(of url: URL, options: [AnyHashable: Any]?) throws -> any StoreContinuity

    // MARK: Around it

    /// Whether two stores are one: options may say where they are, too.
    static func areOneStore(
        _ url: URL, _ options: [AnyHashable: Any]?, _ otherURL: URL, _ otherOptions: [AnyHashable: Any]?
    ) -> Bool

    /// Whether there is a store at a place.
    ///
    /// - Throws: the errors of a server that cannot be asked.
    static func exists(at url: URL, options: [AnyHashable: Any]?) throws -> Bool

    /// Gives the store at a place the permissions of the store from which it is made.
    static func protect(_ place: URL, like store: URL)

    /// Deletes the contents of a store, with all its other files. Nobody uses the store.
    static func remove(at url: URL, options: [AnyHashable: Any]?) throws

    /// Removes the leftovers of a killed migration.
    static func removeLeftovers(of url: URL)

    /// Compares a store with a program's model, so that nothing is lost without permission. Nothing is changed.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - program: the model of the program.
    ///   - rules: the program's rules for renamed, removed and converted values.
    ///   - options: the options with which the store is opened.
    /// - Returns: nil if there is no store yet.
    /// - Throws: the errors of opening a store, and 134130 for one whose model cannot be found.
    static func reconciliation(
        at url: URL, program: NSManagedObjectModel, rules: ReconciliationRules, options: [AnyHashable: Any]?
    ) throws -> (any ReconcilableStore)?
}

extension MigratableFormat {
    package static func hasFormerNames(
        of url: URL, _ model: NSManagedObjectModel, options: [AnyHashable: Any]?
    ) throws -> Bool { false }

    package static func areOneStore(
        _ url: URL, _ options: [AnyHashable: Any]?, _ otherURL: URL, _ otherOptions: [AnyHashable: Any]?
    ) -> Bool { url.isSameFile(as: otherURL) }
}

/// An inferred migration from one model to another.
package struct InferredMigration {
    /// The model of the store.
    package let source: NSManagedObjectModel
    /// The model to migrate to.
    package let destination: NSManagedObjectModel
    package let plan: MappingPlan
    /// The configuration of the destination whose entities the store holds; `nil` for all.
    package let configuration: String?

    package init(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel, plan: MappingPlan,
        configuration: String? = nil
    ) {
        self.source = source
        self.destination = destination
        self.plan = plan
        self.configuration = configuration
    }
}

/// The places for the successors of a store, which are removed afterwards.
package protocol SuccessorPlaces: AnyObject {
    /// A folder for other files of the migration.
    var folder: URL { get }

    /// A place for the store of a step.
    func place(step: Int) throws -> URL

    /// Puts a copy of a store at the place of a step.
    func copy(_ store: URL, to place: URL) throws

    /// Removes the store of a step that is no longer needed.
    func remove(_ place: URL) throws
}

/// Makes a store that was migrated object by object a continuation of the old one: with its UUID, keys that are never
/// used twice, and its history.
package protocol StoreContinuity {
    /// The greatest key that the store has given out.
    var greatestKey: Int64 { get }

    /// The options for making a successor.
    func options(_ options: [AnyHashable: Any]) -> [AnyHashable: Any]

    /// Gives a successor the UUID and the history.
    func carry(to place: URL, _ mapping: ObjectMapping) throws
}

/// Which object became which in a migration by a mapping model.
package struct ObjectMapping {
    package let model: NSMappingModel
    package let source: NSManagedObjectModel
    package let destination: NSManagedObjectModel
    package let pairs: [KeyPairs]

    package init(
        model: NSMappingModel, source: NSManagedObjectModel, destination: NSManagedObjectModel, pairs: [KeyPairs]
    ) {
        (self.model, self.source, self.destination, self.pairs) = (model, source, destination, pairs)
    }
}

extension MigratableFormat {
    /// Migrates a store by an inferred mapping, if its options permit that.
    ///
    /// - Throws: 134140 if they do not, or no mapping can be inferred, and the errors of the migration.
    package static func migrateIfAllowed(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel, configuration: String?,
        options: [AnyHashable: Any]?
    ) throws {
        guard StoreSettings.flag(options, NSInferMappingModelAutomaticallyOption) else {
            throw MigrationError.missingMappingModel(url: url, source: source, destination: model, underlying: nil)
        }
        try migrateByInference(
            url, from: source, to: model, configuration: configuration, options: options,
            defersCleanup: StoreSettings.flag(options, NSPersistentStoreDeferredLightweightMigrationOptionKey))
    }

    /// Infers a mapping between two models, and migrates a store with it.
    ///
    /// - Throws: 134140 if no mapping can be inferred, and the errors of the migration.
    package static func migrateByInference(
        _ url: URL, from source: NSManagedObjectModel, to model: NSManagedObjectModel, configuration: String?,
        options: [AnyHashable: Any]?, defersCleanup: Bool = false
    ) throws {
        let plan: MappingPlan
        do { plan = try MappingInference.plan(from: source, to: model) } catch {
            throw MigrationError.missingMappingModel(url: url, source: source, destination: model, underlying: error)
        }
        let migration = InferredMigration(from: source, to: model, plan: plan, configuration: configuration)
        try migrate(url, by: migration, options: options, defersCleanup: defersCleanup, progress: { _ in })
    }
}

/// One step of a migration in place.
package enum MigrationStep: Equatable, Sendable {
    /// Runs a statement.
    case run(String)
    /// Runs a `SELECT` that must return no rows; a row means that the objects do not fit the new model.
    case expectNone(String, MigrationViolation)
    /// Compiles a statement, which fires the named trigger of another program; an error means that the trigger does not
    /// fit the new tables.
    case compile(String, trigger: String)
    /// Creates a table with columns of other programs; an error means that these do not fit it.
    case create(String, columns: String)

    /// The statement.
    package var sql: String {
        switch self {
        case .run(let sql), .expectNone(let sql, _), .compile(let sql, _), .create(let sql, _): return sql
        }
    }
}

/// The version of a store, by its metadata and its copy of its model.
package struct StoreVersion {
    package let metadata: [String: Any]
    /// The store's copy of its model; `nil` if it has none.
    package let model: NSManagedObjectModel?
    /// Whether the store keeps a history.
    package let hasHistory: Bool
    /// Whether the store's tables are those of a model; used if it has no copy of its model, or another one.
    private let hasTables: (NSManagedObjectModel) -> Bool

    package init(
        metadata: [String: Any], model: NSManagedObjectModel?, hasHistory: Bool,
        hasTables: @escaping (NSManagedObjectModel) -> Bool = { _ in false }
    ) {
        (self.metadata, self.model, self.hasHistory) = (metadata, model, hasHistory)
        self.hasTables = hasTables
    }

    /// The model's entities whose version is not the store's, by name.
    package func differences(_ entities: [NSEntityDescription], of model: NSManagedObjectModel) -> [String] {
        StoreCompatibility.differences(entities, metadata: metadata) {
            StoredModel.choose(copy: self.model, supposed: model, hasTables: hasTables)
        }
    }

    /// Whether a model fits the store.
    package func fits(_ model: NSManagedObjectModel, configuration: String?) -> Bool {
        let members = model.entities(forConfigurationName: configuration) ?? model.entities
        let entities = StoredVersionHashes.compared(members, of: model, metadata: metadata)
        // This distinguishes most versions without hashing.
        guard Set(entities.compactMap(\.name)) == Set(StoreMetadata.hashes(in: metadata).keys) else { return false }
        return differences(entities, of: model).isEmpty
    }
}

/// A store compared with a program's model, and the way to open it so that nothing is lost without permission: see
/// ``ModelReconciliation``.
package protocol ReconcilableStore {
    var url: URL { get }
    var reconciliation: ModelReconciliation { get }
    /// The store's own model.
    var source: NSManagedObjectModel { get }
    /// The model with which a coordinator can open the store.
    var model: NSManagedObjectModel { get }
    /// Whether the store must be migrated to be opened with the model.
    var isMigrationNeeded: Bool { get }

    /// The data that would be lost, with the numbers of rows; empty if the store can be migrated.
    func losses() throws -> [CountedLoss]

    /// Existing values that violate new uniqueness constraints.
    ///
    /// - Parameter limit: the number of examples for each constraint.
    /// - Returns: the values, by constraint; empty if all are unique.
    /// - Throws: the errors of reading the store.
    func sharedValues(limit: Int) throws -> [SharedValues]

    /// Objects that several others have in a relationship by which one alone is to have them.
    ///
    /// - Parameter limit: the number of examples for each relationship.
    /// - Returns: the objects, by relationship; empty if each is in one only.
    /// - Throws: the errors of reading the store.
    func sharedMembers(limit: Int) throws -> [SharedMembers]

    /// Migrates the store to the ``model``, and makes missing indexes. It is only for a store that loses nothing by it.
    ///
    /// Entities keep their numbers, and entities that are left alone keep their tables, so that other programs can
    /// continue to use the store.
    ///
    /// - Parameter defersCleanup: whether removing what is no longer needed is deferred.
    /// - Throws: 134140 and 134190 if no mapping can be inferred, 134110 if the objects do not fit, 134111 if values
    ///   that must be unique are not, 134090 if somebody else changed the store meanwhile. The store is then unchanged.
    func migrate(defersCleanup: Bool) throws
}

/// Data that would be lost, with the number of rows.
package struct CountedLoss: Equatable, Sendable {
    package let loss: ModelLoss
    package let rows: Int

    package init(loss: ModelLoss, rows: Int) { (self.loss, self.rows) = (loss, rows) }
}

/// Values that several rows share although they must be unique.
package struct SharedValues: Equatable, Sendable {
    package let entity: String
    package let constraint: [String]
    /// The first values as text, with the numbers of rows that have them.
    package let examples: [(values: [String], rows: Int)]
    /// Whether there are more than the examples.
    package let hasMore: Bool

    /// The examples for a message: `'red' (4 rows)`.
    package var texts: [String] {
        examples.map { "\($0.values.joined(separator: ", ")) (\($0.rows) rows)" } + (hasMore ? ["…"] : [])
    }

    package init(entity: String, constraint: [String], examples: [(values: [String], rows: Int)], hasMore: Bool) {
        (self.entity, self.constraint, self.examples, self.hasMore) = (entity, constraint, examples, hasMore)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.entity == other.entity && one.constraint == other.constraint && one.hasMore == other.hasMore
            && one.examples.map(\.values) == other.examples.map(\.values)
            && one.examples.map(\.rows) == other.examples.map(\.rows)
    }
}

/// Objects that several others have in a relationship by which one alone is to have them.
package struct SharedMembers: Sendable {
    /// The entity of those that have them.
    package let entity: String
    package let relationship: String
    /// The entity of the objects.
    package let destination: String
    /// The first objects, each with how many others have it.
    package let examples: [(identifier: String, owners: Int)]
    /// Whether there are more than the examples.
    package let hasMore: Bool

    package init(
        entity: String, relationship: String, destination: String, examples: [(identifier: String, owners: Int)],
        hasMore: Bool
    ) {
        (self.entity, self.relationship, self.destination) = (entity, relationship, destination)
        (self.examples, self.hasMore) = (examples, hasMore)
    }
}
