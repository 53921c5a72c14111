import Foundation

// Inserting, changing and deleting objects.
extension NSManagedObjectContext {
    // MARK: Inserting

    func insertObject(_ object: NSManagedObject) {
        noteUse()
        checkQueue()
        if let former = object.managedObjectContext {
            if former === self { return insertAgain(object) }
            programmerError("cannot insert an object of entity “\(object.layout.name)” that another context has")
        }
        rememberForUndo(object, existed: false)
        enlist(object)
        insertionsUnderWay += 1
        defer { insertionsUnderWay -= 1 }
        object.awakeFromInsert()
    }

    /// Takes back a deletion that was not saved yet. Otherwise, counts a new object as inserted in this event again, so
    /// that the event's notification includes it.
    private func insertAgain(_ object: NSManagedObject) {
        if object.isDeleted { return takeBackDeletion(of: object) }
        guard object.isUnsavedInsertion, object.state.isDisjoint(with: .anyEvent) else { return }
        object.state.insert(.insertedInEvent)
        event.add(object)
        scheduleProcessing()
    }

    private func takeBackDeletion(of object: NSManagedObject) {
        guard !object.isGone else { return }
        let isPropagated = object.state.contains(.deletePropagated)
        if object.isFault { object.fireFault() }
        revive(object)
        // Its delete rules have taken it out of the relationships of others.
        if isPropagated { object.connectInverses() }
    }

    /// Makes an object a new object of the context.
    func enlist(_ object: NSManagedObject) {
        if object.state.contains(.fault) { object.showNoValues() }
        object.setContext(self)
        object.state.remove([.fault, .hollow, .updated, .deleted, .deletePropagated])
        changed.list(object)
        object.state.insert([.inserted, .insertedInEvent])
        if checksQueues { object.state.insert(.checked) }
        noteClass(of: object)
        event.add(object)
        table.insert(object)
        retained.insert(object)
        scheduleProcessing()
    }

    func assignObject(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject else {
            programmerError("cannot assign a \(type(of: object)) to a store; only managed objects can be assigned")
        }
        assignedStores[object] = store
    }

    func assignedStore(of object: NSManagedObject) -> NSPersistentStore? {
        assignedStores[object]
    }

    // MARK: Changing

    /// Handles the first change of an object since changes were last processed.
    func objectWillChange(_ object: NSManagedObject) {
        if isAwakening { return }
        if object.state.isDisjoint(with: .anyEvent) {
            if undoManager != nil || workRecord != nil { rememberForUndo(object) }
            event.keepFormerValues(of: object)
            event.add(object)
            scheduleProcessing()
        }
        object.state.insert(.updatedInEvent)
        if object.state.isDisjoint(with: [.inserted, .deleted]) { object.state.insert(.updated) }
        changed.list(object)
    }

    // MARK: Deleting

    func deleteObject(_ object: NSManagedObject) {
        checkQueue()
        // An object that was never saved loses its context when it is deleted.
        guard let context = object.managedObjectContext else { return }
        guard context === self else {
            programmerError(
                "cannot delete an object of entity “\(object.layout.name)” that the context does not have")
        }
        // Deleted once more, an object is prepared once more, unless it is its own preparation that deletes it.
        let isPrepared = object.state.contains(.deleted) && !object.state.contains(.deletedInEvent)
        guard !isPrepared, deletions.beginPreparing(object) else { return }
        object.prepareForDeletion()
        deletions.endPreparing(object)
        guard !object.state.contains(.deleted) else { return }
        deletions.unpropagated.append(object)
        noteDeletion(of: object)
    }

    func noteDeletion(of object: NSManagedObject) {
        // Once its deletion is saved, only the undo manager has its values.
        if undoManager != nil, object.state.contains(.fault) { object.fireFault() }
        if object.state.isDisjoint(with: .anyEvent) {
            rememberForUndo(object)
            event.add(object)
        }
        changed.list(object)
        object.state.insert([.deleted, .deletedInEvent])
        scheduleProcessing()
    }

    // MARK: Withdrawing changes

    /// Withdraws an object's changes. It stays in the lists, which are cleared of such objects the next time they are
    /// processed.
    func withdraw(_ object: NSManagedObject) {
        changed.willWithdraw(object)
        event.forgetFormerValues(of: object)
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
    }

    /// Removes an object from the context.
    func forget(_ object: NSManagedObject) {
        table.remove(object)
        retained.remove(object)
        if !assignedStores.isEmpty { assignedStores[object] = nil }
        object.relations = []
        object.state.remove([.inserted, .updated, .deleted, .deletePropagated])
        object.state.remove(.anyEvent)
        object.setContext(nil)
    }
}

/// The sets of objects that a save has put into notifications.
///
/// A save posts most sets twice, as changes and as saved. Making a large set takes as long as validating its objects.
struct PostedObjects {
    private var posted: [(objects: [NSManagedObject], set: Set<NSManagedObject>)] = []

    /// The set of some objects; an existing set of the same objects is used again.
    func set(of objects: [NSManagedObject]) -> Set<NSManagedObject> {
        for known in posted where Self.areSame(known.objects, objects) { return known.set }
        return Set(objects)
    }

    /// The set of some objects, kept for the next time if `keeps` is true.
    mutating func set(of objects: [NSManagedObject], keeping keeps: Bool) -> Set<NSManagedObject> {
        let set = set(of: objects)
        if keeps { posted.append((objects, set)) }
        return set
    }

    private static func areSame(_ one: [NSManagedObject], _ other: [NSManagedObject]) -> Bool {
        guard one.count == other.count else { return false }
        for index in one.indices where one[index] !== other[index] { return false }
        return true
    }
}

// Code that changes an ordered relationship usually calls `mutableOrderedSetValue(forKey:)` again for each member.
// Creating the set copies all members, so the sets used last are kept until changes are processed. They refer only to
// objects that have changes anyway.
extension NSManagedObjectContext {
    /// A recently used ordered set of a changed relationship.
    func kept(of object: NSManagedObject, _ relationship: RelationshipLayout) -> MutableRelationshipOrderedSet? {
        guard
            let set = event.orderedSets.last(where: { $0.object === object && $0.relationship === relationship })
        else { return nil }
        set.bringUpToDate()
        return set
    }

    /// Keeps an ordered set by which a relationship was changed.
    func keep(_ set: MutableRelationshipOrderedSet) { event.keep(set) }
}

/// Maps entities to classes and classes to entities. Each is looked up once.
struct ClassCache {
    var generation = -1
    var typeByEntity: [ObjectIdentifier: NSManagedObject.Type] = [:]
    /// The classes of former generations of the entities.
    var formerTypes: [ObjectIdentifier: NSManagedObject.Type] = [:]
    /// Whether all objects of each entity are of one class.
    var isUniform = true
    /// Compared for each object without retaining it.
    var lastEntity: Unmanaged<EntityLayout>? { didSet { keptEntity = lastEntity?.takeUnretainedValue() } }
    private var keptEntity: EntityLayout?
    var lastDescription: NSEntityDescription?
    var lastType: NSManagedObject.Type?
    var entityByType: [ObjectIdentifier: EntityLayout] = [:]
    var lastMadeType: NSManagedObject.Type?
    var lastMadeEntity: EntityLayout?

    /// The cache for another model. Existing objects keep their classes, so what is known about their classes stays.
    var forgettingEntities: ClassCache {
        var cache = ClassCache()
        cache.isUniform = isUniform
        cache.formerTypes = formerTypes.merging(typeByEntity) { _, latest in latest }
        return cache
    }
}

// The classes of entities, and the entities of classes.
extension NSManagedObjectContext {
    func objectType(for layout: EntityLayout) -> NSManagedObject.Type { objectType(for: .passUnretained(layout)) }

    @inline(__always)
    func objectType(for layout: Unmanaged<EntityLayout>) -> NSManagedObject.Type {
        if classCache.lastEntity?.toOpaque() == layout.toOpaque(), let type = classCache.lastType { return type }
        return findObjectType(for: layout.takeUnretainedValue())
    }

    @inline(never)
    private func findObjectType(for layout: EntityLayout) -> NSManagedObject.Type {
        let generation = ManagedClasses.generation
        if classCache.generation != generation {
            classCache.formerTypes.merge(classCache.typeByEntity) { _, latest in latest }
            classCache.typeByEntity = [:]
            classCache.generation = generation
        }
        let type: NSManagedObject.Type
        if let known = classCache.typeByEntity[ObjectIdentifier(layout)] {
            type = known
        } else {
            type = ManagedClasses.type(for: layout.description)
            classCache.typeByEntity[ObjectIdentifier(layout)] = type
            if let former = classCache.formerTypes[ObjectIdentifier(layout)], former != type {
                classCache.isUniform = false
            }
        }
        classCache.lastEntity = .passUnretained(layout)
        classCache.lastDescription = layout.description
        classCache.lastType = type
        return type
    }

    /// Records the class of an object that the program has made.
    func noteClass(of object: NSManagedObject) {
        if classCache.isUniform, type(of: object) != objectType(for: object.layout) { classCache.isUniform = false }
    }

    /// Whether everything that a request for an entity finds is of a class, as far as that is known without checking
    /// each object.
    func areAllKnown<T>(as wanted: T.Type, _ entity: EntityLayout, includesSubentities: Bool) -> Bool {
        guard classCache.isUniform else { return false }
        let entities = includesSubentities ? entity.selfAndSubentities : [entity]
        // The look-up may show that the objects of an entity are of two classes.
        return entities.allSatisfy { objectType(for: $0) is T.Type } && classCache.isUniform
    }

    /// Records a class that a request names. Classes are looked up again if it brings a new module.
    func learn(_ type: NSManagedObject.Type) {
        guard type != NSManagedObject.self, classCache.entityByType[ObjectIdentifier(type)] == nil,
            let layout = modelLayout
        else { return }
        let generation = ManagedClasses.generation
        if let entity = ManagedClasses.entity(for: type, in: layout) {
            classCache.entityByType[ObjectIdentifier(type)] = entity
        }
        if ManagedClasses.generation != generation { classCache.lastEntity = nil }
    }

    /// The entity of a new object of a class, or of the object that is being made from a row.
    func descriptionForNewObject(of type: NSManagedObject.Type) -> NSEntityDescription {
        if materialization.identity != nil, let description = classCache.lastDescription { return description }
        return entityForNewObject(of: type).description
    }

    private func entityForNewObject(of type: NSManagedObject.Type) -> EntityLayout {
        if let layout = materialization.identity?.layout { return layout.takeUnretainedValue() }
        if let last = classCache.lastMadeType, last == type, let entity = classCache.lastMadeEntity { return entity }
        // A context without a coordinator has no model of its own; one that it gets later may have another entity.
        guard let layout = modelLayout else { return ManagedClasses.entity(for: type) }
        let known = classCache.entityByType[ObjectIdentifier(type)]
        guard let entity = known ?? ManagedClasses.entity(for: type, in: layout) else {
            programmerError(
                "no entity of the model names class “\(String(reflecting: type))”; its entities are "
                    + layout.entities.map { "\($0.name) (\($0.description.objectClassName))" }
                    .joined(separator: ", "))
        }
        classCache.entityByType[ObjectIdentifier(type)] = entity
        classCache.lastMadeType = type
        classCache.lastMadeEntity = entity
        return entity
    }

    /// Sets the entity of new objects of a class, and returns the former one.
    func swapNewObjectEntity(
        _ type: NSManagedObject.Type?, _ entity: EntityLayout?
    ) -> (type: NSManagedObject.Type?, entity: EntityLayout?) {
        let former = (classCache.lastMadeType, classCache.lastMadeEntity)
        classCache.lastMadeType = type
        classCache.lastMadeEntity = entity
        return former
    }

    /// The coordinator's model.
    var modelLayout: ModelLayout? { persistentStoreCoordinator?.modelLayout }

    /// The entity with a name in the coordinator's model.
    func entityLayout(named name: String) -> EntityLayout? { modelLayout?.entityByName[name] }
}

extension NSEntityDescription {
    /// The entity with a name in a context's model.
    ///
    /// - Parameters:
    ///   - entityName: the name of the entity.
    ///   - context: a context that has a coordinator or a parent.
    /// - Returns: the entity; `nil` for a name that the model does not have.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        context.entityLayout(named: entityName)?.description
    }

    /// Makes an object of an entity, of the class that the entity names, and inserts it into a context.
    ///
    /// ```swift
    /// let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
    /// book.setValue("Emma", forKey: "title")
    /// ```
    ///
    /// - Parameters:
    ///   - entityName: an entity of the context's model; any other stops the program.
    ///   - context: the context to insert the object into.
    /// - Returns: the new object, which the context's next save writes.
    @discardableResult
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let layout = context.entityLayout(named: entityName) else {
            programmerError(
                "the context's model has no entity “\(entityName)”; it has "
                    + (context.modelLayout?.entityByName.keys.sorted().joined(separator: ", ") ?? "no entities"))
        }
        return context.makeNewObject(of: context.objectType(for: layout), entity: layout)
    }
}

extension NSManagedObjectContext {
    /// Makes a new object of a class for an entity; several entities may name the class.
    func makeNewObject(of type: NSManagedObject.Type, entity: EntityLayout) -> NSManagedObject {
        if type == NSManagedObject.self { return NSManagedObject(entity: entity.description, insertInto: self) }
        let former = swapNewObjectEntity(type, entity)
        defer { _ = swapNewObjectEntity(former.type, former.entity) }
        return type.init(materializedIn: self)
    }
}
