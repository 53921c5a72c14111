import CoreDataModel
import Foundation
import StoreEngine

/// A kind of stores that can be migrated.
package protocol MigratableFormat: StoreFormat {
    /// The version that a store is of.
    static func version(of url: URL, options: [AnyHashable: Any]?) throws -> StoreVersion

    /// The model of a store: its own copy, or a version of the models in the bundles that has the store's hashes.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - destination: a model whose other versions are looked through as well, in the package that it was read from.
    ///   - options: the options that the store is opened with.
    /// - Returns: the model.
    /// - Throws: 134130 when there is none.
    static func sourceModel(
        of url: URL, near destination: NSManagedObjectModel?, options: [AnyHashable: Any]?
    ) throws -> NSManagedObjectModel

    /// Brings a store into the state that a migration begins with, without changing what it holds.
    static func prepareMigration(of url: URL, options: [AnyHashable: Any]?) throws

    // MARK: In place

    /// The steps by which a store is migrated in its place; nothing is changed.
    static func steps(of migration: InferredMigration, at url: URL) throws -> [MigrationStep]

    /// Migrates a store in its place, in one transaction, or leaves it as it was.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - migration: what was inferred from the two versions.
    ///   - options: the options that the store is opened with.
    ///   - defersCleanup: whether removing what is not needed any more is left for later.
    ///   - progress: called with the part that is done, from 0 to 1.
    /// - Throws: 134110 when the objects do not fit the new model, 134111 when a constraint does not hold, 134090 when somebody else
    ///   migrated the store meanwhile, and what the store reports.
    static func migrate(
        _ url: URL, by migration: InferredMigration, options: [AnyHashable: Any]?, defersCleanup: Bool,
        progress: (Double) -> Void
    ) throws

    // MARK: By a successor

    /// Makes the successor of a store, and puts it in the store's place: all of it, or nothing. Nobody else writes to the store
    /// meanwhile: other writers wait, and then find another version of the model.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - options: the options that the store is opened with.
    ///   - failing: makes the error of a replacement that failed.
    ///   - make: makes the successor at one of the places that it is given, and returns where it is; `nil` when none is needed any
    ///     more. Called again where somebody has written to the store in the moment before its replacement.
    /// - Throws: 134090 when somebody else is migrating the store, or keeps it locked; what the closures throw, and what the store
    ///   reports. The store is as it was then.
    static func succeed(
        _ url: URL, options: [AnyHashable: Any]?, failing: (any Error) -> any Error,
        _ make: (any SuccessorPlaces) throws -> URL?
    ) throws

    /// What a successor takes over from a store.
    static func continuity(of url: URL, options: [AnyHashable: Any]?) throws -> any StoreContinuity

    // MARK: Around it

    /// Does work with a copy of a store at hand, which stays when the work fails.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - work: what may fail.
    ///   - failed: called when the work failed, with the place of the copy.
    /// - Throws: what copying the store and the work throw.
    static func withBackup(of url: URL, _ work: () throws -> Void, failed: (URL) -> Void) throws

    /// Whether there is a store at a place.
    static func exists(at url: URL) -> Bool

    /// Gives the store at a place the permissions of the store that it is made of.
    static func protect(_ place: URL, like store: URL)

    /// Takes the contents of a store away, with all its other files. Nobody uses the store.
    static func remove(at url: URL) throws

    /// Removes what a migration left that was killed.
    static func removeLeftovers(of url: URL)

    /// Compares a store with a program's model, so that nothing is lost unasked. Nothing is changed.
    ///
    /// - Parameters:
    ///   - url: where the store is.
    ///   - program: the model of the program.
    ///   - rules: what the program says about names and values that go.
    ///   - options: those that the store is opened with.
    /// - Returns: nil where there is no store yet.
    /// - Throws: the errors of opening a store, and 134130 for one whose model cannot be found.
    static func reconciliation(
        at url: URL, program: NSManagedObjectModel, rules: ReconciliationRules, options: [AnyHashable: Any]?
    ) throws -> (any ReconcilableStore)?
}

/// A migration that was inferred, from one model to another.
package struct InferredMigration {
    /// The model of the store.
    package let source: NSManagedObjectModel
    /// The model that the store shall have.
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

/// Where the successors of a store are made, which are gone afterwards.
package protocol SuccessorPlaces: AnyObject {
    /// A folder for other files that are made on the way.
    var folder: URL { get }

    /// A place for the store of a step.
    func place(step: Int) throws -> URL

    /// Puts a copy of a store at the place of a step.
    func copy(_ store: URL, to place: URL) throws

    /// Removes the store of a step that is not needed any more.
    func remove(_ place: URL) throws
}

/// What makes a store that was migrated object by object the same store as before: its UUID, keys that are never used twice, and
/// its history.
package protocol StoreContinuity {
    /// The greatest key that the store has given away.
    var greatestKey: Int64 { get }

    /// The options that a successor is made with.
    func options(_ options: [AnyHashable: Any]) -> [AnyHashable: Any]

    /// Gives a successor the UUID and the history.
    func carry(to place: URL, _ succession: Succession) throws
}

/// Which object became which in a migration by a mapping model.
package struct Succession {
    package let mapping: NSMappingModel
    package let source: NSManagedObjectModel
    package let destination: NSManagedObjectModel
    package let pairs: [KeyPairs]

    package init(
        mapping: NSMappingModel, source: NSManagedObjectModel, destination: NSManagedObjectModel, pairs: [KeyPairs]
    ) {
        (self.mapping, self.source, self.destination, self.pairs) = (mapping, source, destination, pairs)
    }
}
