import Foundation
import PredicateFormat

// Makes objects of rows, and fills faults.
extension NSManagedObjectContext {
    /// The object of a row: the registered one, or a new one.
    func object(for row: Row, asFault: Bool, refreshing: Bool, stamp: UInt32) -> NSManagedObject {
        takePromotionsIfAny()
        if let object = table.object(for: row.objectID) {
            if take(PlacedRow(row), for: object, refreshing: refreshing, stamp: stamp) {
                renewRelationships(of: [object])
            }
            if !asFault { fulfill(object) }
            return object
        }
        let object = materialize(
            Materialization(
                identity: ObjectIdentity(row.objectID), values: row.values, version: row.version,
                state: asFault ? [.fault, .valuesPending] : [], stamp: stamp))
        if !asFault { awake(object) }
        return object
    }

    /// The objects of the rows that a plan finds. Each object is made when its row is read, while the row is in the
    /// processor's cache, and so that its parts lie together in memory.
    ///
    /// `awakeFromFetch` is called once all objects exist and the coordinator's lock is released.
    func objects(
        of plan: FetchPlan, in source: any RowSource, _ stores: [NSPersistentStore]?,
        _ style: FetchStyle, stamp: UInt32
    ) throws -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        defer { if !style.asFaults { for object in objects { wake(object) } } }
        let newState: ObjectState = style.asFaults ? [.fault, .valuesPending] : .asleep
        let refreshing = style.refreshing
        // The first fetch of a context finds nothing registered.
        let isFirst = table.isUnused
        var unregistered = Unregistered()
        var renewed: [NSManagedObject] = []
        defer { renewRelationships(of: renewed) }
        try source.readRows(plan, stores: stores) { row in
            if !isFirst, let known = table.object(at: row.identity) {
                if take(row, for: known, refreshing: refreshing, stamp: stamp) { renewed.append(known) }
                objects.append(known)
                return
            }
            objects.append(
                makeUnregistered(
                    Materialization(
                        identity: row.identity, values: row.values, version: row.version, state: newState, stamp: stamp)
                ))
            if unregistered.note(objects.count - 1) { register(&unregistered, among: &objects) }
        }
        register(&unregistered, among: &objects)
        return objects
    }

    /// The object of a row that was read along with others: a fault with the row's values, if it was not registered.
    func fault(for row: consuming PlacedRow, stamp: UInt32) -> NSManagedObject {
        if let known = table.object(at: row.identity) {
            _ = take(row, for: known, refreshing: false, stamp: stamp)
            return known
        }
        return materialize(
            Materialization(
                identity: row.identity, values: row.values, version: row.version, state: [.fault, .valuesPending],
                stamp: stamp))
    }

    /// Calls an object's awakening method after it got its values. Properties that it sets then are derived from these,
    /// and do not count as changes.
    private func awake(_ object: NSManagedObject) {
        let wasAwakening = isAwakening
        isAwakening = true
        object.awakeFromFetch()
        isAwakening = wasAwakening
    }

    /// Does the same after an object's values have been replaced.
    func awake(_ object: NSManagedObject, from events: NSSnapshotEventType) {
        let wasAwakening = isAwakening
        isAwakening = true
        object.awake(fromSnapshotEvents: events)
        isAwakening = wasAwakening
    }

    /// Calls an object's awakening method if a fetch has just brought its values.
    private func wake(_ object: NSManagedObject) {
        guard !object.state.isDisjoint(with: [.asleep, .fault]) else { return }
        if object.state.contains(.fault) { return fulfill(object) }
        object.state.remove(.asleep)
        awake(object)
    }

    /// Gives a registered object the values of its row. A fault keeps them until it is fired.
    ///
    /// - Returns: whether an object that is not a fault took values that others may have saved.
    private func take(_ row: PlacedRow, for object: NSManagedObject, refreshing: Bool, stamp: UInt32) -> Bool {
        if object.state.contains(.fault) {
            object.values = object.layout.withTransientDefaults(row.values)
            object.snapshot = object.values
            object.version = row.version
            object.stamp = stamp
            object.state.insert(.valuesPending)
            object.state.remove(.inBatch)
            return false
        }
        guard refreshing else { return false }
        // A parent's objects change without new versions.
        let isOther = object.version != row.version || parentSource != nil
        object.adopt(row.values, version: row.version, keepingChanges: true)
        return isOther
    }

    func objectOrFault(_ objectID: NSManagedObjectID) -> NSManagedObject {
        noteUse()
        takePromotionsIfAny()
        let identifier = localIdentifier(objectID)
        if let object = table.object(for: identifier) { return object }
        return materialize(
            Materialization(identity: ObjectIdentity(identifier), values: [], version: 0, state: .fault, stamp: 0))
    }

    func objectWithValues(_ objectID: NSManagedObjectID) throws -> NSManagedObject {
        let identifier = localIdentifier(objectID)
        let known = table.object(for: identifier)
        if let known, !known.isFault {
            if known.state.contains(.lost) { throw Self.missing(identifier) }
            if known.state.contains(.inaccessible), let error = readFailures[known.identifier] { throw error }
            return known
        }
        try pinIfNeeded()
        guard !identifier.isTemporaryID || parent != nil, let source else { throw Self.missing(identifier) }
        if let known, known.state.contains(.valuesPending), stalenessInterval < 0,
            source.isCurrent(known.identity, since: known.stamp)
        {
            fulfill(known)
            return known
        }
        let stamp = source.generation
        guard let row = try source.row(for: identifier) else { throw Self.missing(identifier) }
        return object(for: row, asFault: false, refreshing: false, stamp: stamp)
    }

    private static func missing(_ identifier: NSManagedObjectID) -> NSError {
        StoreError.make(
            CoreDataErrorCode.managedObjectReferentialIntegrity,
            "There is no \(identifier.layout.name) object with the ID \(identifier.description).",
            userInfo: ["objectID": identifier])
    }

    /// Fires a fault: with the values that were fetched along with others if they are still current, otherwise with the
    /// source's.
    func fulfill(_ object: NSManagedObject) {
        guard object.state.contains(.fault) else { return }
        if object.state.contains(.observed) {
            object.notifyingObservers(ofKeys: { _ in true }) { fire(object) }
        } else {
            fire(object)
        }
    }

    private func fire(_ object: NSManagedObject) {
        // An observer that was notified before may have fired the object.
        guard object.state.contains(.fault) else { return }
        if hasCurrentValues(object) {
            object.state.remove([.fault, .valuesPending])
            return awake(object)
        }
        do { try pinIfNeeded() } catch { return becomeUnreadable(object, error as NSError) }
        guard let source else { return becomeInaccessible(object) }
        if object.state.contains(.valuesPending), stalenessInterval < 0,
            source.isCurrent(object.identity, since: object.stamp)
        {
            object.state.remove([.fault, .valuesPending])
            awake(object)
            return
        }
        do {
            if object.state.contains(.inBatch), let batch = batches.take(object.stamp) {
                loadBatch(batch)
                if !object.state.contains(.fault) { return }
            }
            let stamp = source.generation
            var row = try source.row(for: object.identifier)
            if row == nil, object.hasTemporaryID {
                // The parent may have saved the object in the meantime, under a permanent ID.
                takePromotions()
                row = try source.row(for: object.identifier)
            }
            if let row {
                // A developer's store may have read the object to answer, and then it has its values but for those.
                let isAwake = !object.state.contains(.fault)
                object.adopt(row.values, version: row.version, keepingChanges: isAwake)
                object.stamp = stamp
                if !readFailures.isEmpty { readFailures[object.identifier] = nil }
                if !isAwake { awake(object) }
                return
            }
        } catch { return becomeUnreadable(object, error as NSError) }
        guard shouldHandleInaccessibleFault(object, for: object.identifier, triggeredByProperty: nil) else {
            programmerError(
                "could not fulfill a fault: the store has no object \(object.identifier.description) any more")
        }
        becomeInaccessible(object)
    }

    /// Whether values that were fetched along with others are certainly current, because nothing has been saved since.
    /// This is so for most faults, and checked without retaining anything.
    private func hasCurrentValues(_ object: NSManagedObject) -> Bool {
        guard object.state.contains(.valuesPending), stalenessInterval < 0, parentSource == nil, case .none = pin,
            let coordinator
        else { return false }
        return Unmanaged.passUnretained(coordinator)._withUnsafeGuaranteedRef { $0.generation } == object.stamp
    }

    /// Leaves an object whose row is gone without values, and counts it as deleted until the next save.
    private func becomeInaccessible(_ object: NSManagedObject) {
        if !object.isDeleted {
            event.removed.append(object)
            scheduleProcessing()
        }
        object.becomeEmpty()
        object.state.insert(.lost)
        noteDeletionElsewhere(of: object)
    }

    /// Leaves an object whose row is damaged without values, since a property cannot throw. A save that would write the
    /// object throws.
    private func becomeUnreadable(_ object: NSManagedObject, _ error: NSError) {
        report("the values of \(object.identifier.description) cannot be read", error)
        readFailures[object.identifier] = error
        object.becomeEmpty()
        object.state.insert(.inaccessible)
    }

    /// Writes an error that cannot be thrown to a caller to standard error, as Core Data logs such errors.
    func report(_ what: String, _ error: any Error) {
        // The code that runs the transaction restarts it, or throws.
        if transaction?.isBroken == true { return }
        let message = "CoreData: error: \(what): \((error as NSError).localizedDescription)\n"
        try? FileHandle.standardError.write(contentsOf: Data(message.utf8))
    }
}

extension NSManagedObject {
    fileprivate final func becomeEmpty() {
        values = ContiguousArray(repeating: .null, count: layout.slots.count)
        snapshot = values
        state.remove([.fault, .valuesPending, .inBatch])
    }
}

/// The paths by which a predicate reads other objects. What it selects depends on changes of these, too.
struct RelatedReads {
    struct Read: Equatable {
        /// The relationships that lead to the objects.
        let path: [String]
        let isToMany: Bool
        /// The objects' entity.
        let entity: EntityLayout
        /// What is read from them.
        let key: String

        static func == (left: Read, right: Read) -> Bool {
            left.path == right.path && left.entity === right.entity && left.key == right.key
        }
    }

    private(set) var reads: [Read] = []
    /// Whether these are all: not for code, fetches within a predicate, and elements of ordered collections.
    private(set) var isComplete = true

    /// Where a path begins: the evaluated object, or the element of a subquery.
    private struct Origin {
        var path: [String] = []
        var isToMany = false
        var entity: EntityLayout
    }

    /// Pure.
    init(of tree: PredicateTree, from entity: EntityLayout) {
        visit(tree, Origin(entity: entity), [:])
    }

    private mutating func visit(_ tree: PredicateTree, _ origin: Origin, _ variables: [String: Origin]) {
        switch tree {
        case .constant: return
        case .and(let parts), .or(let parts): for part in parts { visit(part, origin, variables) }
        case .not(let part): visit(part, origin, variables)
        case .comparison(let comparison):
            visit(comparison.left, origin, variables)
            visit(comparison.right, origin, variables)
        }
    }

    private mutating func visit(_ expression: ExpressionTree, _ origin: Origin, _ variables: [String: Origin]) {
        switch expression {
        case .keyPath(let keys): _ = walk(keys, from: origin)
        case .path(from: .variable(let name), let keys):
            guard let element = variables[name] else { return isComplete = false }
            _ = walk(keys, from: element)
        case .subquery(of: .keyPath(let keys), let variable, let tree):
            guard let element = walk(keys, from: origin) else { return isComplete = false }
            visit(tree, origin, variables.merging([variable: element]) { $1 })
        case .conditional(let condition, let then, let otherwise):
            visit(condition, origin, variables)
            visit(then, origin, variables)
            visit(otherwise, origin, variables)
        case .constant, .argument, .evaluatedObject, .variable: return
        case .function, .aggregate, .listed, .cast, .assignment, .set:
            for part in expression.parts { visit(part, origin, variables) }
        case .path, .subquery, .element, .call, .anyKey, .fetch, .block: isComplete = false
        }
    }

    /// Notes what a path reads from other objects.
    ///
    /// - Returns: where the path leads to; nil if that is not an object.
    private mutating func walk(_ keys: [String], from origin: Origin) -> Origin? {
        var place = origin
        for (index, key) in keys.enumerated() {
            // `lines.@sum.price` reads the prices; `lines.@count` reads none.
            if key.hasPrefix("@") { continue }
            guard let relationship = place.entity.relationship(named: key) else { return nil }
            place.path.append(key)
            place.isToMany = place.isToMany || relationship.isToMany
            place.entity = relationship.destination
            guard let next = keys[(index + 1)...].first(where: { !$0.hasPrefix("@") }) else { continue }
            let read = Read(path: place.path, isToMany: place.isToMany, entity: place.entity, key: next)
            if !reads.contains(read) { reads.append(read) }
        }
        return place
    }
}

/// What a context could not read.
struct ReadFailures {
    /// The errors of objects whose values could not be read. A save does not overwrite their rows.
    private var errors: [NSManagedObjectID: NSError] = [:]
    /// The missing files of external data that were already reported: each is reported once.
    private var reportedFiles: Set<String> = []

    var isEmpty: Bool { errors.isEmpty }

    subscript(_ identifier: NSManagedObjectID) -> NSError? {
        get { errors[identifier] }
        set { errors[identifier] = newValue }
    }

    /// Records the report of a missing file.
    ///
    /// - Returns: whether it is the first one.
    mutating func report(_ path: String) -> Bool { reportedFiles.insert(path).inserted }

    /// Forgets the errors of a context's objects. Files that were reported stay so.
    mutating func reset() { errors = [:] }
}
