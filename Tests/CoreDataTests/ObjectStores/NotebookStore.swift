import CoreData
import Synchronization

/// An incremental store on dictionaries, written as the tutorials write them: rows by entity and key.
final class NotebookStore: NSIncrementalStore, @unchecked Sendable {
    // @unchecked Sendable: confined to the coordinator's queue, like its superclass.
    static let type = NSPersistentStore.StoreType(rawValue: "Notebook")

    struct Page {
        var values: [String: Any] = [:]
        var toOne: [String: String] = [:]
        var toMany: [String: [String]] = [:]
        var version: UInt64 = 1
    }

    /// What the stores were asked, in order.
    static let calls = Mutex<[String]>([])
    var pages: [String: [String: Page]] = [:]
    var nextKey = 1
    var failure: (any Error)?
    var lastSave: NSSaveChangesRequest?
    var givesTemporaryIDs = false
    /// What the store does when it is asked for a relationship.
    var reads: (NSManagedObjectID, NSManagedObjectContext?) throws -> Void = { _, _ in }

    private func note(_ call: String) { Self.calls.withLock { $0.append(call) } }

    override var type: String { Self.type.rawValue }

    override class func identifierForNewStore(at storeURL: URL) -> Any { "NOTEBOOK-" + storeURL.lastPathComponent }

    override func loadMetadata() throws {
        note("loadMetadata")
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: identifier as Any, "made by": "a test"]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        switch request.requestType {
        case .fetchRequestType:
            guard let fetch = request as? NSFetchRequest<NSFetchRequestResult>, let entity = fetch.entity else {
                return []
            }
            note("fetch \(entity.name ?? "") \(fetch.predicate.map { "\($0)" } ?? "all")")
            return try find(fetch, entity, context)
        case .saveRequestType:
            if let failure { throw failure }
            guard let save = request as? NSSaveChangesRequest else { return [] }
            lastSave = save
            note(
                "save \(save.insertedObjects?.count ?? 0) \(save.updatedObjects?.count ?? 0) \(save.deletedObjects?.count ?? 0)"
            )
            for object in save.insertedObjects ?? [] { write(object) }
            for object in save.updatedObjects ?? [] { write(object) }
            for object in save.deletedObjects ?? [] { pages[object.entity.name ?? ""]?[key(object.objectID)] = nil }
            return []
        default: return try super.execute(request, with: context)
        }
    }

    private func find(
        _ fetch: NSFetchRequest<NSFetchRequestResult>, _ entity: NSEntityDescription, _ context: NSManagedObjectContext?
    ) throws -> Any {
        var found = (pages[entity.name ?? ""] ?? [:]).sorted { $0.key < $1.key }
        if let predicate = fetch.predicate { found = found.filter { predicate.evaluate(with: $0.value.values) } }
        let identifiers = found.map { newObjectID(for: entity, referenceObject: $0.key) }
        switch fetch.resultType {
        case .countResultType: return [NSNumber(value: identifiers.count)]
        case .managedObjectIDResultType: return identifiers
        case .dictionaryResultType: return found.map(\.value.values)
        default: return identifiers.compactMap { context?.object(with: $0) }
        }
    }

    private func write(_ object: NSManagedObject) {
        var page = Page()
        for (name, _) in object.entity.attributesByName {
            if let value = object.value(forKey: name) { page.values[name] = value }
        }
        for (name, relationship) in object.entity.relationshipsByName {
            if relationship.isToMany {
                page.toMany[name] = object.objects(name).map { key($0.objectID) }
            } else if let destination = object.value(forKey: name) as? NSManagedObject {
                page.toOne[name] = key(destination.objectID)
            }
        }
        let name = object.entity.name ?? ""
        page.version = (pages[name]?[key(object.objectID)]?.version ?? 0) + 1
        pages[name, default: [:]][key(object.objectID)] = page
    }

    private func key(_ identifier: NSManagedObjectID) -> String { referenceObject(for: identifier) as? String ?? "" }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        note("values of \(key(objectID)) for \(context.name ?? "")")
        guard let page = pages[objectID.entity.name ?? ""]?[key(objectID)] else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: page.values, version: page.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        note("\(relationship.name) of \(key(objectID))")
        try reads(objectID, context)
        guard let page = pages[objectID.entity.name ?? ""]?[key(objectID)],
            let destination = relationship.destinationEntity
        else { return NSNull() }
        if relationship.isToMany {
            return (page.toMany[relationship.name] ?? []).map { newObjectID(for: destination, referenceObject: $0) }
        }
        return page.toOne[relationship.name].map { newObjectID(for: destination, referenceObject: $0) } ?? NSNull()
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        if givesTemporaryIDs { return array.map(\.objectID) }
        return array.map { object in
            defer { nextKey += 1 }
            return newObjectID(for: object.entity, referenceObject: "page-\(nextKey)")
        }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        for identifier in objectIDs { note("registered \(key(identifier))") }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        for identifier in objectIDs { note("unregistered \(key(identifier))") }
    }

    /// What the stores were asked while a block ran.
    static func calls(during block: () throws -> Void) rethrows -> [String] {
        calls.withLock { $0 = [] }
        try block()
        return calls.withLock { $0.filter { !$0.contains("registered") } }
    }
}
