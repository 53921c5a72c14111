import CoreData

/// A program's own store among Core Data's: its rows are the snapshots that were read.
///
/// Core Data wants an identifier before a save that stays after it. Here it is a number, which stands for the
/// identifier that the program's store has given the model, and for the temporary one until then.
final class DataStoreBridge: NSIncrementalStore, IdentifierGiving, @unchecked Sendable {
    // @unchecked Sendable: everything is used under the lock.
    static let type = "SwiftData.DataStore"
    static let storeKey = "SwiftDataStore"

    /// A program's store, in the options of Core Data's.
    final class Contents: NSObject {
        let calls: any DataStoreCalls
        let types: [String: ModelType]

        init(_ calls: any DataStoreCalls, _ types: [String: ModelType]) { (self.calls, self.types) = (calls, types) }
    }

    /// What one save does, from its snapshots on.
    private struct Saving {
        let context: ObjectIdentifier
        let run: () throws -> (identifiers: [PersistentIdentifier: PersistentIdentifier], changed: [ReadSnapshot])
    }

    private let lock = NSRecursiveLock()
    private var identifiers: [Int64: PersistentIdentifier] = [:]
    private var numbers: [PersistentIdentifier: Int64] = [:]
    private var rows: [Int64: [String: SnapshotValue]] = [:]
    /// How often the values of a row have changed, by which contexts know that theirs are outdated.
    private var versions: [Int64: UInt64] = [:]
    private var saving: Saving?
    /// What tells requests of no context from others.
    private let ownState = EditingState()

    private var contents: Contents? { options?[Self.storeKey] as? Contents }

    /// Runs code with the store, one piece at a time.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` for a store that was removed, and the code's errors.
    func using<Result>(_ code: (any DataStoreCalls) throws -> Result) throws -> Result {
        guard let contents else {
            throw SwiftDataError.loadIssueModelContainer.because("The store was removed from its container.")
        }
        lock.lock()
        defer { lock.unlock() }
        return try code(contents.calls)
    }

    // MARK: Identifiers

    private func number(of identifier: PersistentIdentifier) -> Int64 {
        if let number = numbers[identifier] { return number }
        let number = Int64(identifiers.count + 1)
        identifiers[number] = identifier
        numbers[identifier] = number
        return number
    }

    /// The identifier in the program's store; nil for one of another store.
    func identifier(of objectID: NSManagedObjectID) -> PersistentIdentifier? {
        lock.lock()
        defer { lock.unlock() }
        return (referenceObject(for: objectID) as? NSNumber).flatMap { identifiers[$0.int64Value] }
    }

    /// Core Data's identifier of a model of the store.
    func objectID(of identifier: PersistentIdentifier, _ layout: EntityLayout) -> NSManagedObjectID {
        // Core Data may take its coordinator's lock, which is held where it asks for values.
        let number = lock.withLock { self.number(of: identifier) }
        return newObjectID(for: layout.description, referenceObject: NSNumber(value: number))
    }

    /// Keeps the values of snapshots.
    ///
    /// - Returns: the identifiers of those whose values differ from the ones that were read before.
    func register(_ snapshots: [ReadSnapshot]) -> Set<PersistentIdentifier> {
        lock.lock()
        defer { lock.unlock() }
        var changed: Set<PersistentIdentifier> = []
        for snapshot in snapshots {
            let number = number(of: snapshot.identifier)
            let former = rows.updateValue(snapshot.values, forKey: number)
            if let former, former.equals(snapshot.values) { continue }
            versions[number, default: 0] += 1
            if former != nil { changed.insert(snapshot.identifier) }
        }
        return changed
    }

    func forget(_ identifiers: [PersistentIdentifier]) {
        lock.lock()
        defer { lock.unlock() }
        for identifier in identifiers { rows[number(of: identifier)] = nil }
    }

    func forgetEverything() {
        lock.lock()
        defer { lock.unlock() }
        rows = [:]
    }

    // MARK: What Core Data asks for

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: contents?.calls.identifier ?? ""]
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let type = contents?.types[objectID.layout.name]
        let (values, version) = try row(of: objectID)
        var node: [String: Any] = [:]
        for slot in objectID.layout.slots {
            guard let property = type?.property(named: slot.name) else { continue }
            switch slot.kind {
            case .attribute(let attribute):
                node[slot.name] = values[slot.name].flatMap { property.object(of: $0.content, attribute) }
            case .toOne(let relationship):
                let destination = values[slot.name]?.content as? PersistentIdentifier
                node[slot.name] = destination.flatMap { self.objectID($0, relationship) } ?? NSNull()
            }
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: node, version: version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        guard let layout = objectID.layout.relationship(named: relationship.name) else { return NSNull() }
        let value = try row(of: objectID).values[relationship.name]?.content
        guard relationship.isToMany else {
            return (value as? PersistentIdentifier).flatMap { self.objectID($0, layout) } ?? NSNull()
        }
        return (value as? [PersistentIdentifier] ?? []).compactMap { self.objectID($0, layout) }
    }

    /// The identifier of a destination, whose entity may be a subentity.
    private func objectID(_ identifier: PersistentIdentifier, _ relationship: RelationshipLayout) -> NSManagedObjectID?
    {
        let layout = relationship.destination.selfAndSubentities.first { $0.name == identifier.entityName }
        return layout.map { objectID(of: identifier, $0) }
    }

    /// The values of a row with their version, fetched if the store has not shown them yet.
    private func row(of objectID: NSManagedObjectID) throws -> (values: [String: SnapshotValue], version: UInt64) {
        try using { calls in
            guard let identifier = identifier(of: objectID), let number = numbers[identifier] else {
                throw CocoaError(.managedObjectReferentialIntegrity)
            }
            if rows[number] == nil { _ = register(try calls.cached([identifier], for: ownState)) }
            if rows[number] == nil, let type = contents?.types[objectID.layout.name] {
                try fetch(type.type, identifier, calls)
            }
            guard let row = rows[number] else { throw CocoaError(.managedObjectReferentialIntegrity) }
            return (row, versions[number] ?? 1)
        }
    }

    /// Fetches a model by its identifier, or all of its class from a store that takes no predicate.
    private func fetch<T: PersistentModel>(
        _ type: T.Type, _ identifier: PersistentIdentifier, _ calls: any DataStoreCalls
    ) throws {
        let one = FetchDescriptor<T>(predicate: #Predicate { $0.persistentModelID == identifier })
        let result: (found: [ReadSnapshot], related: [ReadSnapshot])
        do { result = try calls.fetch(one, for: ownState) } catch is DataStoreError {
            result = try calls.fetch(FetchDescriptor<T>(), for: ownState)
        }
        _ = register(result.found + result.related)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { object in
            let temporary = (object as? ModelObject)?.modelState?.identifier ?? PersistentIdentifier(object.objectID)
            return objectID(of: temporary, object.objectID.layout)
        }
    }

    // MARK: Saving

    /// Prepares the save of a context, whose snapshots are taken now.
    func prepareSave(
        of changes: StoreChanges, in context: NSManagedObjectContext, _ editingState: EditingState
    ) throws {
        try using { calls in
            saving = Saving(context: ObjectIdentifier(context), run: calls.saving(changes, for: editingState))
        }
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard request is NSSaveChangesRequest else { return try super.execute(request, with: context) }
        lock.lock()
        defer { lock.unlock() }
        guard let prepared = saving, let context, prepared.context == ObjectIdentifier(context) else { return [Any]() }
        saving = nil
        let result = try prepared.run()
        for (temporary, permanent) in result.identifiers {
            guard let number = numbers.removeValue(forKey: temporary) else { continue }
            identifiers[number] = permanent
            numbers[permanent] = number
        }
        if let request = request as? NSSaveChangesRequest {
            for object in request.insertedObjects ?? [] {
                guard identifier(of: object.objectID)?.storeIdentifier == nil else { continue }
                throw SwiftDataError.modelValidationFailure.because(
                    "The store gave a new \(object.objectID.layout.name) no permanent identifier. Name it in "
                        + "DataStoreSaveChangesResult.remappedIdentifiers.")
            }
            forget((request.deletedObjects ?? []).compactMap { identifier(of: $0.objectID) })
        }
        _ = register(result.changed)
        return [Any]()
    }
}

extension [String: SnapshotValue] {
    /// Whether both surely have equal values.
    fileprivate func equals(_ other: [String: SnapshotValue]) -> Bool {
        count == other.count
            && allSatisfy { name, value in
                guard let value = value.content as? AnyHashable, let other = other[name]?.content as? AnyHashable else {
                    return false
                }
                return value == other
            }
    }
}
