import CoreData
import Synchronization

extension ModelContext {
    /// Posted before a context saves. The object is the context.
    public static let willSave = Notification.Name("NSManagedObjectContextWillSaveNotification.SwiftData")

    /// Posted after a context has saved. The object is the context; the user info has the identifiers of the models,
    /// under the raw values of ``NotificationKey``. Those of more than 1,000 models are there once the program has
    /// asked for this name.
    public static var didSave: Notification.Name {
        savesAreObserved.store(true, ordering: .releasing)
        return didSaveName
    }

    private static let didSaveName = Notification.Name("NSManagedObjectContextDidSaveNotification.SwiftData")
    /// An observer reads the notification's name first: until a program does, large saves are posted without their
    /// identifiers.
    private static let savesAreObserved = Atomic<Bool>(false)

    /// The keys of a notification's user info.
    public enum NotificationKey: String, Sendable {
        /// The state of the stores. It is not set here.
        case queryGeneration
        /// Set if all models became invalid. It is not set here.
        case invalidatedAllIdentifiers
        /// The identifiers of new models, as an array.
        case insertedIdentifiers
        /// The identifiers of changed models, as an array.
        case updatedIdentifiers
        /// The identifiers of deleted models, as an array.
        case deletedIdentifiers
    }

    /// Writes all changes to the stores.
    ///
    /// A failed save leaves the stores, and the changes here, as they were.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` for values that the schema does not allow, and for models
    ///   that were refused; other errors of Core Data's and of the stores.
    public func save() throws {
        takeOver()
        if let refusal { throw SwiftDataError.modelValidationFailure.because(refusal) }
        NotificationCenter.default.post(name: Self.willSave, object: self)
        objectContext.processPendingChanges()
        let deleted = objectContext.deletedObjects.compactMap { ($0 as? ModelObject)?.modelState }
        let lastValues = deleted.map { ($0.currentValues, $0.identifier) }
        try prepareOwnStores()
        let news = SaveNews()
        do { try objectContext.save(following: news.note) } catch let error as NSError where Self.isValidation(error) {
            throw SwiftDataError.modelValidationFailure.because(error.localizedDescription)
        }
        for (state, last) in zip(deleted, lastValues) { state.leave(with: last.0, formerly: last.1) }
        forgetRefusals()
        let isSmall = news.count <= 1_000
        var info: [AnyHashable: Any] = [:]
        if isSmall || Self.savesAreObserved.load(ordering: .acquiring) {
            let saved = news.identifiers
            info[NotificationKey.insertedIdentifiers.rawValue] = saved.inserted.map { PersistentIdentifier($0) }
            info[NotificationKey.updatedIdentifiers.rawValue] = saved.updated.map { PersistentIdentifier($0) }
            info[NotificationKey.deletedIdentifiers.rawValue] = saved.deleted.map { PersistentIdentifier($0) }
        }
        NotificationCenter.default.post(name: Self.didSaveName, object: self, userInfo: info)
        if news.count > 0 { core.announce(news.identifiers, from: mailbox) }
    }

    private static func isValidation(_ error: NSError) -> Bool {
        error.domain == NSCocoaErrorDomain && (1550...1690).contains(error.code)
    }

    /// Runs a block, and saves what it changed.
    ///
    /// - Parameter block: what to do.
    /// - Throws: what the block throws, with its changes unsaved, and the errors of the save.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    /// Takes over what other contexts have saved: models show the new values, and keep the changes made here.
    func takeOver() {
        for changes in mailbox.take() { merge(changes) }
    }

    /// Takes over changes in the stores. Models whose rows are gone show their last values.
    func merge(_ changes: SavedIdentifiers) {
        if changes.isEverything { return forgetEverything() }
        let updated = states(changes.updated)
        let deleted = states(changes.deleted).map { ($0, $0.knownValues, $0.identifier) }
        objectContext.mergeChanges(
            fromContextDidSave: Notification(
                name: NSManagedObjectContext.didSaveObjectIDsNotification, userInfo: changes.userInfo))
        for (state, values, identifier) in deleted { state.leave(with: values, formerly: identifier) }
        for state in updated + deleted.map(\.0) { state.notifyAll() }
        notifyFollowers(of: nil)
    }

    /// Leaves all models: the stores were emptied, and with them the values that were not read.
    private func forgetEverything() {
        let states = objectContext.registeredObjects.compactMap { ($0 as? ModelObject)?.modelState }
        let known = states.map { ($0, $0.knownValues, $0.identifier) }
        objectContext.reset()
        for (state, values, identifier) in known { state.leave(with: values, formerly: identifier) }
        for state in states { state.notifyAll() }
        notifyFollowers(of: nil)
    }

    private func states(_ identifiers: [NSManagedObjectID]) -> [ModelState] {
        identifiers.compactMap { (objectContext.registeredObject(for: $0) as? ModelObject)?.modelState }
    }
}

/// The objects that a save reports while it runs. Their identifiers are made when they are asked for.
private final class SaveNews {
    private var (inserted, updated, deleted): ([NSManagedObject], [NSManagedObject], [NSManagedObject]) = ([], [], [])

    var count: Int { inserted.count + updated.count + deleted.count }

    func note(_ inserted: [NSManagedObject], _ updated: [NSManagedObject], _ deleted: [NSManagedObject]) {
        self.inserted += inserted
        self.updated += updated
        self.deleted += deleted
    }

    private(set) lazy var identifiers = SavedIdentifiers(
        inserted: Self.identifiers(inserted), updated: Self.identifiers(updated), deleted: Self.identifiers(deleted))

    private static func identifiers(_ objects: [NSManagedObject]) -> [NSManagedObjectID] {
        objects.map(\.objectID).sorted { $0.key < $1.key }
    }
}
