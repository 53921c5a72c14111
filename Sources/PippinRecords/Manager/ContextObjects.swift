import CoreData
import Pippin
import StoreSession

/// The objects of a context as rows. For use on the context's queue.
final class ContextObjects: ObjectSource {
    let context: NSManagedObjectContext
    private let registry: ModelRegistry
    /// The objects of the latest rows, which the context forgets otherwise, with the lists that were fetched for them.
    private var latest: [NSManagedObject] = []

    init(_ context: NSManagedObjectContext, _ registry: ModelRegistry) {
        (self.context, self.registry) = (context, registry)
    }

    var hasChanges: Bool { context.hasChanges }
    var isUntouched: Bool { context.isUntouched }
    var isStored: Bool { !context.hasChanges && context.parent == nil }

    // MARK: Reading

    private func request(_ plan: FetchPlan) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.entity.name)
        request.predicate = plan.predicate
        request.returnsObjectsAsFaults = false
        return request
    }

    /// The selected objects, in order.
    private func objects(_ plan: FetchPlan, with relationships: [String]) throws -> [NSManagedObject] {
        let request = request(plan)
        if !relationships.isEmpty { request.relationshipKeyPathsForPrefetching = relationships }
        let order = plan.sortDescriptors
        // The store knows nothing of unsaved changes of the models by whose values others are sorted.
        let isSortedHere = context.hasChanges && order.contains { $0.key?.contains(".") ?? false }
        if !isSortedHere {
            request.sortDescriptors = order
            (request.fetchLimit, request.fetchOffset) = (plan.limit, plan.offset)
        }
        var objects = try context.fetch(request).compactMap { $0 as? NSManagedObject }
        if isSortedHere {
            objects.sort { Self.precedes($0, $1, order) }
            objects = Array(objects.dropFirst(plan.offset).prefix(plan.limit > 0 ? plan.limit : .max))
        }
        return objects
    }

    private static func precedes(
        _ first: NSManagedObject, _ second: NSManagedObject, _ order: [NSSortDescriptor]
    ) -> Bool {
        for descriptor in order {
            switch descriptor.compare(first, to: second) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return false
    }

    func rows(_ plan: FetchPlan, with relationships: [String]) throws -> ContiguousArray<Row> {
        latest = try objects(plan, with: relationships)
        return ContiguousArray(latest.map(row))
    }

    func values(_ plan: FetchPlan, at paths: [String], _ body: ([Any?]) throws -> Void) throws {
        let relationships = Set(paths.compactMap { $0.split(separator: ".").dropLast().first.map(String.init) })
        let known = relationships.filter { plan.entity.relationship(named: $0) != nil }
        for object in try objects(plan, with: known.sorted()) {
            try body(
                paths.map { path in
                    object.missingExternalData[path].map { file in
                        MissingFile(
                            reason: "its value is kept in the file “\(file.path)”, which cannot be read. "
                                + "Put the file back.")
                    } ?? object.value(forKeyPath: path)
                })
        }
    }

    func count(_ plan: FetchPlan) throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.entity.name)
        (request.predicate, request.fetchLimit, request.fetchOffset) = (plan.predicate, plan.limit, plan.offset)
        return try context.count(for: request)
    }

    func computed(_ plan: FetchPlan) throws -> [[String: Any]] {
        try context.computed(of: plan.entity.name, plan.predicate) { fetch in
            (fetch.columns, fetch.groupBy, fetch.isDistinct) = (plan.columns, plan.groupBy, plan.isDistinct)
            fetch.sortDescriptors = plan.sortDescriptors
        }
    }

    func rows(for identifiers: [NSManagedObjectID], with relationships: [String]) throws -> ContiguousArray<Row> {
        try load(identifiers.filter { context.registeredObject(for: $0)?.isFault ?? true }, relationships)
        return try ContiguousArray(
            identifiers.compactMap { identifier -> Row? in
                do { return row(try context.existingObject(with: identifier)) } catch let error as NSError
                    where error.code == NSManagedObjectReferentialIntegrityError
                {
                    // The object was deleted in the meantime.
                    return nil
                }
            })
    }

    /// Fetches objects that have no values yet, at once; an object that is gone is left out.
    private func load(_ identifiers: [NSManagedObjectID], _ relationships: [String]) throws {
        guard identifiers.count > 1 else { return }
        for (_, group) in Dictionary(grouping: identifiers, by: { ObjectIdentifier($0.layout) }) {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: group[0].layout.name)
            request.returnsObjectsAsFaults = false
            if !relationships.isEmpty { request.relationshipKeyPathsForPrefetching = relationships }
            for portion in group.portions() {
                request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [Array(portion)])
                latest += try context.fetch(request).compactMap { $0 as? NSManagedObject }
            }
        }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        identifiers.map { context.object(with: $0).members(of: relationship.name).map(\.objectID) }
    }

    func seeingChanges(_ predicate: NSPredicate, of entity: String) throws -> NSPredicate {
        try context.seeingRelatedChanges(predicate, of: entity)
    }

    /// An object as a row.
    private func row(_ object: NSManagedObject) -> Row {
        let layout = object.objectID.layout
        var values = ContiguousArray<StoredValue>()
        values.reserveCapacity(layout.slots.count)
        for slot in layout.slots.indices {
            if layout.slots[slot].attribute == nil {
                let end = object.value(forKey: layout.slots[slot].name) as? NSManagedObject
                values.append(end.map { .identifier($0.objectID) } ?? .null)
            } else {
                values.append(object.storedValue(at: slot))
            }
        }
        return Row(objectID: object.objectID, version: 0, values: values)
    }

    // MARK: Changing

    func insert(_ layout: EntityLayout) throws -> Row {
        row(NSManagedObject(entity: layout.description, insertInto: context))
    }

    func apply(_ changes: ChangeSet) throws {
        let changed = changes.inserted + changes.updated
        let objects = changed.map { context.object(with: $0.objectID) }
        for (object, change) in zip(objects, changed) {
            let layout = change.objectID.layout
            for slot in layout.slots.indices {
                guard let attribute = layout.slots[slot].attribute else { continue }
                let value = change.values[slot]
                if attribute.derivation != nil || object.storedValue(at: slot) == value { continue }
                object.setStoredValue(value, at: slot)
            }
        }
        for (object, change) in zip(objects, changed) {
            for relationship in change.objectID.layout.toOnes {
                var end: NSManagedObject?
                if case .identifier(let identifier) = change.values[relationship.slot] {
                    end = context.object(with: identifier)
                }
                if object.value(forKey: relationship.name) as? NSManagedObject !== end {
                    object.setValue(end, forKey: relationship.name)
                }
            }
        }
        for (object, change) in zip(objects, changed) {
            for list in change.toManyChanges { apply(list, to: object) }
        }
        try delete(changes.deleted.map(\.objectID))
    }

    private func apply(_ list: ToManyChange, to object: NSManagedObject) {
        let (name, present) = (list.relationship.name, object.members(of: list.relationship.name))
        if let order = list.order {
            let wanted = order.map(context.object(with:))
            if !wanted.elementsEqual(present, by: ===) { object.setValue(NSOrderedSet(array: wanted), forKey: name) }
            return
        }
        let removed = Set(list.removed)
        let added = list.added.map(context.object(with:)).filter { !present.contains($0) }
        let staying = present.filter { !removed.contains($0.objectID) }
        if added.isEmpty, staying.count == present.count { return }
        let wanted = staying + added
        object.setValue(
            list.relationship.isOrdered ? NSOrderedSet(array: wanted) : NSSet(array: wanted), forKey: name)
    }

    func delete(_ identifiers: [NSManagedObjectID]) throws {
        for identifier in identifiers { context.delete(context.object(with: identifier)) }
    }

    func save(_ new: [NSManagedObjectID]) throws -> Int {
        guard context.hasChanges else { return 0 }
        let objects = new.map(context.object(with:))
        do { try context.save() } catch { throw PersistenceError(saving: error, registry) }
        return objects.count { $0.managedObjectContext == nil || $0.isDeleted }
    }

    func giveBack() { context.giveBackQueue() }
}

extension NSManagedObject {
    /// The objects of a to-many relationship, in order if it is ordered.
    func members(of relationship: String) -> [NSManagedObject] {
        switch value(forKey: relationship) {
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}

extension PersistenceManager {
    /// Core Data's container, which shows the manager's session. It is made when it is first needed.
    var objectContainer: NSPersistentContainer { shown.container }

    /// The merge policy of the contexts, which follows the schemas.
    var contextPolicy: NSMergePolicy { shown.policy }

    /// Lets blocks use managed objects where rows are not enough.
    static let usesObjects: Void = makesObjects.withLock { $0 = { $0.shown } }

    private var shown: ShownObjects {
        Self.usesObjects
        if let made = madeObjects.withLock({ $0 }) as? ShownObjects { return made }
        // The session's lock comes first: a question that holds it may need a context.
        return session.withLock {
            madeObjects.withLock { made in
                if let made = made as? ShownObjects { return made }
                let new = ShownObjects(self)
                made = new
                return new
            }
        }
    }

    /// A new context with a queue of its own, for short work: change, save, release.
    func makeWorker() -> NSManagedObjectContext {
        let context = objectContainer.newBackgroundContext()
        context.mergePolicy = contextPolicy
        return context
    }

    func save(_ context: NSManagedObjectContext) throws {
        guard context.hasChanges else { return }
        do { try context.save() } catch { throw PersistenceError(saving: error, registry) }
    }
}

extension WriteTurn {
    /// The context of the block, on whose queue it runs.
    func context() throws -> NSManagedObjectContext {
        guard let objects = try objects() as? ContextObjects else {
            throw PersistenceError(.notOpened, "The block has objects of another kind than a context's.")
        }
        return objects.context
    }
}

/// A manager's session as a container shows it.
private final class ShownObjects: ManagerObjects {
    let container: NSPersistentContainer
    let policy: NSMergePolicy
    private let registry: ModelRegistry

    init(_ manager: PersistenceManager) {
        container = NSPersistentContainer(name: manager.name, session: manager.session)
        let base = manager.mergePolicyOfObjects.policy
        registry = manager.registry
        policy = registry.entityNames.isEmpty ? base : SchemaMergePolicy(base, registry)
    }

    func source(for turn: WriteTurn) -> any ObjectSource {
        let context = container.newBackgroundContext()
        context.mergePolicy = policy
        context.join(turn.transaction)
        context.lendQueue(to: turn.held)
        return ContextObjects(context, registry)
    }
}

extension ObjectMergePolicy {
    package init(_ policy: NSMergePolicy) {
        let known = [Self.error, .rollback, .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump]
        self = known.first { $0.policy === policy } ?? .own(policy)
    }

    /// The policy as contexts have it.
    package var policy: NSMergePolicy {
        switch self {
        case .error: .error
        case .rollback: .rollback
        case .overwrite: .overwrite
        case .mergeByPropertyObjectTrump: .mergeByPropertyObjectTrump
        case .mergeByPropertyStoreTrump: .mergeByPropertyStoreTrump
        case .own(let policy): policy as? NSMergePolicy ?? .error
        }
    }
}
