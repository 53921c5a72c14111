import Foundation
import StoreSession
import Synchronization

/// Held while a parent is set, since two contexts that became each other's parents at the same time would not notice.
/// No coordinator's lock is taken while it is held: such a lock may be held as long as a store waits, and this lock is
/// shared by all coordinators.
private let parentLock = Mutex(())

// The source of a context's objects: stores, or a parent context.
extension NSManagedObjectContext {
    /// The source that the context reads from; `nil` until it has a coordinator or a parent.
    var source: (any RowSource)? {
        noteUse()
        if let parentSource { return parentSource }
        if case .pinned(let source) = pin { return source }
        if let transactionSource { return transactionSource }
        guard let coordinator, coordinator.hasObjectStores else { return coordinator }
        return AskingSource(self, coordinator)
    }

    func setSource(coordinator newCoordinator: NSPersistentStoreCoordinator?, parent: NSManagedObjectContext?) {
        coordinator?.forget(table)
        // If the former parent is released, it leaves its coordinator, which must not happen inside the lock.
        withExtendedLifetime(parentSource) {
            parentLock.withLock { _ in
                refuseCircle(through: parent)
                setParent(parent)
            }
        }
        coordinator = newCoordinator
        pin = .none
        newCoordinator?.remember(table)
        transactionSource = nil
        classCache = classCache.forgettingEntities
    }

    /// Refuses a context that would be among its own parents, and would look for stores endlessly. Core Data raises an
    /// exception for it.
    private func refuseCircle(through parent: NSManagedObjectContext?) {
        var next = parent
        while let one = next {
            if one === self {
                programmerError(
                    one === parent
                        ? "a context cannot be its own parent"
                        : "a context cannot have a parent that has the context itself among its own parents; set parent to nil "
                            + "there first")
            }
            next = one.parentSource?.parent
        }
    }

    private func setParent(_ parent: NSManagedObjectContext?) {
        if let linkToParent, let former = parentSource?.parent { former.removeChild(linkToParent) }
        parentSource = parent.map { ParentSource($0) }
        linkToParent = parent.map { parent in
            let link = ChildLink(table)
            parent.noteUse()
            parent.children.withLock { $0.append(link) }
            if let own = parent.linkToParent { link.add(pendingAt: own) }
            return link
        }
    }

    /// Makes everything that the context and its children read and save part of a transaction. For a new context with a
    /// coordinator.
    package func join(_ transaction: OptimisticTransaction) {
        transactionSource = source.map { TransactionSource($0, transaction) }
    }

    /// The transaction that the context works in.
    var transaction: OptimisticTransaction? { transactionSource?.transaction ?? parent?.transaction }

    /// Cleans up when the context is released.
    func letGo() {
        // Objects that refer to each other would keep each other alive.
        for object in table.all { object.relations = [] }
        if let checkpoints { NotificationCenter.default.removeObserver(checkpoints) }
        coordinator?.forget(table)
        if let linkToParent, let parent = parentSource?.parent { parent.removeChild(linkToParent) }
        table.leave()
    }

    func removeChild(_ link: ChildLink) { children.withLock { $0.removeAll { $0 === link } } }

    static func noSource(_ work: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "The context has no coordinator and no parent, so it cannot \(work). Set persistentStoreCoordinator or parent first."
        )
    }

    /// The ID under which this context knows an object. It is the coordinator's own ID if the given one came from
    /// another coordinator of the same store, and the permanent ID if the given one is temporary and this context or
    /// one above has since saved the object.
    func localIdentifier(_ identifier: NSManagedObjectID) -> NSManagedObjectID {
        if identifier.isTemporaryID { return currentIdentifier(ofTemporary: identifier) }
        return persistentStoreCoordinator?.localIdentifier(identifier) ?? identifier
    }

    /// Can be called on any queue: the contexts above are asked for their tables and their former IDs, which have
    /// locks.
    private func currentIdentifier(ofTemporary identifier: NSManagedObjectID) -> NSManagedObjectID {
        var context: NSManagedObjectContext? = self
        while let asked = context {
            // An ancestor may not yet have taken the permanent ID under which this context knows the object.
            let isCurrent = asked === self || asked.linkToParent?.hasPromotions != true
            if isCurrent, asked.table.contains(identifier) { return identifier }
            if let current = asked.formerIdentifiers.withLock({ $0.current(ofTemporary: identifier.key) }) {
                return current
            }
            context = asked.parentSource?.parent
        }
        return identifier
    }
}

/// The source of a context's objects: the stores behind a coordinator, or the objects of a parent context.
///
/// It can be asked on the queue of any context whose source it is.
protocol RowSource: AnyObject, Sendable {
    /// Increases with every save that reaches the stores.
    var generation: UInt32 { get }

    /// Whether the values of an object that were read at a generation are still the source's, as far as it knows.
    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool

    /// Whether the results of a plan come from several stores, and are therefore neither ordered as a whole nor cut to
    /// the limit.
    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool

    /// Whether a store leaves a plan's predicate and order to the caller.
    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool

    /// Whether the objects that a plan finds come without values, which are asked for one by one.
    func givesFaults(_ plan: FetchPlan) -> Bool

    /// The rows that a plan finds.
    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row>

    /// Whether rows are read one by one, so that each may become an object before the next is read.
    var handsOutRows: Bool { get }

    /// Hands out the rows that a plan finds, one by one.
    func readRows(_ plan: FetchPlan, stores: [NSPersistentStore]?, _ body: (consuming PlacedRow) -> Void) throws

    /// The IDs of the rows that a plan finds.
    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID]

    /// How many rows a plan finds.
    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int

    /// The dictionaries that a plan finds.
    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]]

    /// The row of an object; `nil` if it is gone.
    func row(for identifier: NSManagedObjectID) throws -> Row?

    /// The rows of objects; deleted ones are left out.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>

    /// The destinations of a to-many relationship for many objects, in order if it is ordered.
    ///
    /// - Returns: a list for each of the objects.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]

    /// Hands out the rows at the end of a to-many relationship for many objects; those of one object are in order if
    /// the relationship is ordered.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - identifiers: the objects, each once.
    ///   - body: receives the index of an object among them, and the row of one of its destinations.
    /// - Returns: whether the source supports this; otherwise nothing is read.
    /// - Throws: the errors of the stores.
    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool

    /// Permanent IDs for new objects, in order.
    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID]
}

extension RowSource {
    var handsOutRows: Bool { false }

    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool { false }

    func readRows(_ plan: FetchPlan, stores: [NSPersistentStore]?, _ body: (consuming PlacedRow) -> Void) throws {
        for row in try fetchRows(plan, stores: stores) { body(PlacedRow(row)) }
    }

    /// The destinations of a to-many relationship of one object.
    func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] { try destinations(of: relationship, for: [identifier]).first ?? [] }
}

/// A source that asks another source, each time in a certain state.
protocol WrappedSource: RowSource {
    /// The other source.
    var source: any RowSource { get }

    /// Asks the source in that state.
    func reading<Result>(_ body: () throws -> Result) throws -> Result
}

extension WrappedSource {
    var generation: UInt32 { source.generation }

    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        source.isCurrent(identity, since: stamp)
    }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        source.isScattered(plan, stores: stores)
    }

    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        source.evaluatesInMemory(plan, stores: stores)
    }

    func givesFaults(_ plan: FetchPlan) -> Bool { source.givesFaults(plan) }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try reading { try source.fetchRows(plan, stores: stores) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try reading { try source.fetchIdentifiers(plan, stores: stores) }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try reading { try source.fetchCount(plan, stores: stores) }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try reading { try source.fetchDictionaries(plan, stores: stores) }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? { try reading { try source.row(for: identifier) } }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try reading { try source.rows(for: identifiers) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try reading { try source.destinations(of: relationship, for: identifiers) }
    }

    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool {
        try reading { try source.readDestinations(of: relationship, for: identifiers, body) }
    }

    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] { try source.makePermanentIdentifiers(for: objects, assigned: assigned) }
}

/// A coordinator that names the reading context to developers' stores.
final class AskingSource: WrappedSource, @unchecked Sendable {
    // @unchecked Sendable: both are immutable, and the context is only passed on to stores, which are called on its
    // queue.
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator

    init(_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) {
        self.context = context
        self.coordinator = coordinator
    }

    var source: any RowSource { coordinator }

    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try coordinator.asking(for: context, body)
    }
}

/// A parent context as the source of its children, which see its objects including unsaved changes.
///
/// Each question is asked on the parent's queue, while the child waits.
final class ParentSource: RowSource {
    let parent: NSManagedObjectContext

    init(_ parent: NSManagedObjectContext) { self.parent = parent }

    var generation: UInt32 { parent.source?.generation ?? 0 }

    /// An object that the parent has registered may have changed there; for all others the stores know.
    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        // An object of the parent's that has not taken its permanent ID yet is not found by it.
        guard !parent.table.contains(identity), parent.linkToParent?.hasPromotions != true, let source = parent.source
        else {
            return false
        }
        return source.isCurrent(identity, since: stamp)
    }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool { false }

    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool { false }

    func givesFaults(_ plan: FetchPlan) -> Bool { false }

    /// A child's first read pins its parent, as the parent's own does.
    private func reading<Result>(_ body: @escaping (NSManagedObjectContext) throws -> Result) throws -> Result {
        try parent.onQueue { parent in
            try parent.pinIfNeeded()
            return try body(parent)
        }
    }

    func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try reading { try $0.rowsForChild($0.planWithCurrentIdentifiers(plan), stores) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try reading { try $0.fetchIdentifiers($0.planWithCurrentIdentifiers(plan), stores) }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try reading { try $0.fetchCount($0.planWithCurrentIdentifiers(plan), stores) }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try reading { try $0.source?.fetchDictionaries($0.planWithCurrentIdentifiers(plan), stores: stores) ?? [] }
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try reading { try $0.rowsForChild([identifier]).first }
    }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        guard !identifiers.isEmpty else { return [] }
        return try reading { try $0.rowsForChild(identifiers) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try reading { try $0.destinationsForChild(relationship, identifiers) }
    }

    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        try parent.onQueue { parent in
            guard let source = parent.source else { throw NSManagedObjectContext.noSource("give permanent IDs") }
            return try source.makePermanentIdentifiers(for: objects, assigned: assigned)
        }
    }
}
