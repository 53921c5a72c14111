import Foundation

extension NSManagedObjectContext {
    // MARK: Fetching

    /// Fetches what a request describes: objects, IDs, dictionaries or a count, as its result type says.
    ///
    /// ```swift
    /// let request = NSFetchRequest<Person>(entityName: "Person")
    /// request.predicate = NSPredicate(format: "age > %d", 30)
    /// // SELECT Z_PK, Z_ENT, Z_OPT, … FROM ZPERSON WHERE ZAGE > ?
    /// let people = try context.fetch(request)
    /// ```
    ///
    /// - Throws: an error in the Cocoa domain when the request names an unknown entity or property, asks for what the
    ///   store cannot do, or the store cannot be read.
    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        if let type = T.self as? NSManagedObject.Type {
            learn(type)
            if request.resultType.isDisjoint(with: [
                .managedObjectIDResultType, .dictionaryResultType, .countResultType,
            ]) {
                let objects = try objects(of: request, entity(of: request))
                if Self.areAll(objects, T.self) {
                    // Every element was just found to be of the class `T`, which differs from NSManagedObject in the
                    // static type alone; a cast would look at each once more, slowly.
                    return unsafeBitCast(objects, to: [T].self)
                }
            }
        }
        let results = try results(of: request)
        if let typed = results as? [T] { return typed }
        throw StoreError.make(
            CoreDataErrorCode.coreData,
            "The fetch of “\(request.entityName ?? "")” gives \(results.first.map { "\(type(of: $0))" } ?? "nothing"), "
                + "and its request says \(T.self). Check the request's result type, and the class that the entity names."
        )
    }

    /// Whether all objects are of the type `T`; asked once for neighbours of one class.
    private static func areAll<T>(_ objects: [NSManagedObject], _ wanted: T.Type) -> Bool {
        var last: NSManagedObject.Type?
        for object in objects {
            let type = type(of: object)
            if type == last { continue }
            guard object is T else { return false }
            last = type
        }
        return true
    }

    /// How many objects a request finds.
    public func count<T>(for request: NSFetchRequest<T>) throws -> Int { try count(of: request) }

    /// The results of a request of any result type.
    func results(of request: any FetchDescription) throws -> [Any] {
        let layout = try entity(of: request)
        switch request.resultType {
        case .countResultType: return [NSNumber(value: try count(of: request))]
        case .dictionaryResultType: return try dictionaries(of: request, layout)
        case .managedObjectIDResultType: return try identifiers(of: request, layout)
        default: return try objects(of: request, layout)
        }
    }

    func entity(of request: any FetchDescription) throws -> EntityLayout {
        guard let modelLayout, persistentStoreCoordinator != nil else {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The context has no coordinator, so there is nothing to fetch from.")
        }
        // The request's entity may come from another instance of the model.
        guard let name = request.entityName else {
            throw StoreError.make(CoreDataErrorCode.coreData, "A fetch request must name an entity; this one has none.")
        }
        guard let layout = modelLayout.entityByName[name] else {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "The model has no entity “\(name)”; it has \(modelLayout.entityByName.keys.sorted().joined(separator: ", "))."
            )
        }
        return layout
    }

    func plan(for request: any FetchDescription, _ layout: EntityLayout) -> FetchPlan {
        var plan = FetchPlan(entity: layout)
        plan.includesSubentities = request.includesSubentities
        plan.predicate = request.predicate
        plan.sortDescriptors = request.sortDescriptors ?? []
        plan.limit = request.fetchLimit
        plan.offset = request.fetchOffset
        return plan
    }

    /// Changed objects that could change what a fetch of an entity finds.
    private func pendingChanges(for request: any FetchDescription, _ layout: EntityLayout) -> [NSManagedObject] {
        guard request.includesPendingChanges, !changed.isEmpty else { return [] }
        if propagatesDeletesAtEndOfEvent, !event.isEmpty { processPendingChanges() }
        return changed.filter {
            guard $0.hasChanges else { return false }
            return request.includesSubentities ? $0.layout.isKind(of: layout) : $0.layout === layout
        }
    }

    private func objects(of request: any FetchDescription, _ layout: EntityLayout) throws -> [NSManagedObject] {
        guard let source = persistentStoreCoordinator else { return [] }
        var plan = plan(for: request, layout)
        let pending = pendingChanges(for: request, layout)
        if !pending.isEmpty {
            plan.limit = 0
            plan.offset = 0
        }
        let stamp = source.generation
        let fetched: [NSManagedObject]
        if !request.includesPropertyValues || request.fetchBatchSize > 0 {
            let identifiers = try source.fetchIdentifiers(plan, stores: request.affectedStores)
            fetched = identifiers.map { object(with: $0) }
            noteBatches(of: fetched, size: request.fetchBatchSize)
        } else {
            let rows = try source.fetchRows(plan, stores: request.affectedStores)
            table.makeRoom(for: rows.count)
            fetched = rows.map { row in
                object(
                    for: row, asFault: request.returnsObjectsAsFaults,
                    refreshing: request.shouldRefreshRefetchedObjects,
                    stamp: stamp)
            }
        }
        var objects = fetched
        if !pending.isEmpty || source.storesOf(layout, among: request.affectedStores).count > 1 {
            objects = merge(fetched, pending, request)
        }
        try prefetch(request.relationshipKeyPathsForPrefetching ?? [], for: objects)
        return objects
    }

    private func identifiers(of request: any FetchDescription, _ layout: EntityLayout) throws -> [NSManagedObjectID] {
        guard let source = persistentStoreCoordinator else { return [] }
        if !pendingChanges(for: request, layout).isEmpty {
            return try objects(of: request, layout).map(\.identifier)
        }
        return try source.fetchIdentifiers(plan(for: request, layout), stores: request.affectedStores)
    }

    private func count(of request: any FetchDescription) throws -> Int {
        let layout = try entity(of: request)
        guard let source = persistentStoreCoordinator else { return 0 }
        if !pendingChanges(for: request, layout).isEmpty { return try objects(of: request, layout).count }
        return try source.fetchCount(plan(for: request, layout), stores: request.affectedStores)
    }

    private func dictionaries(of request: any FetchDescription, _ layout: EntityLayout) throws -> [NSDictionary] {
        guard let source = persistentStoreCoordinator else { return [] }
        var plan = plan(for: request, layout)
        plan.columns = try columns(of: request, layout)
        plan.groupBy = (request.propertiesToGroupBy ?? []).compactMap {
            ($0 as? NSPropertyDescription)?.name ?? $0 as? String
        }
        plan.having = request.havingPredicate
        plan.isDistinct = request.returnsDistinctResults
        return try source.fetchDictionaries(plan, stores: request.affectedStores).map { NSDictionary(dictionary: $0) }
    }

    private func columns(of request: any FetchDescription, _ layout: EntityLayout) throws -> [FetchColumn] {
        guard let wanted = request.propertiesToFetch, !wanted.isEmpty else {
            return layout.slots.filter { !$0.isTransient }.map { .keyPath($0.name) }
        }
        return try wanted.map { property in
            switch property {
            case let expression as NSExpressionDescription:
                guard let value = expression.expression else {
                    throw StoreError.make(
                        CoreDataErrorCode.coreData, "The expression description “\(expression.name)” has no expression."
                    )
                }
                return .expression(name: expression.name, value, expression.expressionResultType)
            case let description as NSPropertyDescription: return .keyPath(description.name)
            case let name as String: return .keyPath(name)
            default:
                throw StoreError.make(
                    CoreDataErrorCode.coreData,
                    "propertiesToFetch has a \(type(of: property)); it wants property names or descriptions.")
            }
        }
    }

    /// What a fetch finds once unsaved changes count: the store's results without what is deleted or matches no more,
    /// with what is new or matches now, in order, cut to the limit.
    private func merge(
        _ fetched: [NSManagedObject], _ pending: [NSManagedObject], _ request: any FetchDescription
    ) -> [NSManagedObject] {
        let dirty = Set(pending)
        let matches = Self.test(request.predicate)
        var result = fetched.filter { !dirty.contains($0) && !$0.isDeleted }
        result += fetched.filter { dirty.contains($0) && !$0.isDeleted && matches($0) }
        let known = Set(fetched)
        result += pending.filter { !known.contains($0) && !$0.isDeleted && matches($0) }
        let descriptors = request.sortDescriptors ?? []
        if !descriptors.isEmpty { result = Self.sorted(result, by: descriptors) }
        if request.fetchOffset > 0 { result = Array(result.dropFirst(request.fetchOffset)) }
        if request.fetchLimit > 0 { result = Array(result.prefix(request.fetchLimit)) }
        return result
    }

    /// The test that a predicate makes of an object, compiled once for all objects.
    private static func test(_ predicate: NSPredicate?) -> (NSManagedObject) -> Bool {
        guard let predicate else { return { _ in true } }
        // A predicate without a tree, such as a block, evaluates itself.
        guard let compiled = try? compiledPredicate(of: predicate) else { return { predicate.evaluate(with: $0) } }
        return { compiled.evaluate($0) }
    }

    static func sorted(_ objects: [NSManagedObject], by descriptors: [NSSortDescriptor]) -> [NSManagedObject] {
        if let terms = try? sortTerms(of: descriptors) { return objects.sorted(by: terms) }
        // `sort` is stable, as Core Data's sorting of pending changes is.
        return objects.sorted { left, right in
            for descriptor in descriptors {
                switch descriptor.compare(left, to: right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    // MARK: Rows become objects

    /// The object of a row: the one that is registered, or a new one.
    func object(for row: Row, asFault: Bool, refreshing: Bool, stamp: UInt32) -> NSManagedObject {
        if let object = table.object(for: row.objectID) {
            if object.state.contains(.fault) {
                object.values = row.values
                object.snapshot = row.values
                object.version = row.version
                object.stamp = stamp
                object.state.insert(.valuesPending)
                if !asFault { fulfill(object) }
            } else if refreshing {
                object.adopt(row, keepingChanges: true)
            }
            return object
        }
        let object = materialize(
            Materialization(
                identifier: row.objectID, values: row.values, version: row.version,
                state: asFault ? [.fault, .valuesPending] : [], stamp: stamp))
        if !asFault { object.awakeFromFetch() }
        return object
    }

    /// The object of an ID: the one that is registered, or a fault, whether or not the store has such an object.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        let identifier = localIdentifier(objectID)
        if let object = table.object(for: identifier) { return object }
        return materialize(
            Materialization(identifier: identifier, values: [], version: 0, state: .fault, stamp: 0))
    }

    /// The object of an ID, with its values.
    ///
    /// - Throws: `NSManagedObjectReferentialIntegrityError` when no store has such an object.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        let identifier = localIdentifier(objectID)
        if let object = table.object(for: identifier), !object.isFault || object.state.contains(.valuesPending) {
            if object.isDeleted { throw Self.missing(identifier) }
            return object
        }
        guard !identifier.isTemporaryID, let source = persistentStoreCoordinator,
            let row = try source.row(for: identifier)
        else { throw Self.missing(identifier) }
        return object(for: row, asFault: false, refreshing: false, stamp: source.generation)
    }

    private static func missing(_ identifier: NSManagedObjectID) -> NSError {
        StoreError.make(
            CoreDataErrorCode.managedObjectReferentialIntegrity,
            "There is no \(identifier.layout.name) object with the ID \(identifier.description).")
    }

    /// Makes a fault take its values: those that were fetched along with others if they are still right, else what
    /// the store has.
    func fulfill(_ object: NSManagedObject) {
        guard object.state.contains(.fault) else { return }
        guard let source = persistentStoreCoordinator else {
            return becomeInaccessible(object)
        }
        if object.state.contains(.valuesPending), source.isCurrent(object.identifier, since: object.stamp) {
            object.state.remove([.fault, .valuesPending])
            object.awakeFromFetch()
            return
        }
        if object.state.contains(.inBatch), let batch = batches[object.identifier] {
            loadBatch(batch)
            if !object.state.contains(.fault) { return }
        }
        do {
            if let row = try source.row(for: object.identifier) {
                object.adopt(row, keepingChanges: false)
                object.awakeFromFetch()
                return
            }
        } catch {
            programmerError(
                "the values of \(object.identifier.description) cannot be read: \((error as NSError).localizedDescription)"
            )
        }
        guard shouldDeleteInaccessibleFaults else {
            programmerError(
                "could not fulfill a fault: the store has no object \(object.identifier.description) any more")
        }
        becomeInaccessible(object)
    }

    /// Gives an object that the store lost no values, and counts it as deleted.
    private func becomeInaccessible(_ object: NSManagedObject) {
        object.values = ContiguousArray(repeating: .null, count: object.layout.slots.count)
        object.snapshot = object.values
        object.state.remove([.fault, .valuesPending, .inBatch])
        object.state.insert([.inaccessible, .deleted])
    }

    // MARK: Batches and prefetching

    private func noteBatches(of objects: [NSManagedObject], size: Int) {
        guard size > 0 else { return }
        for start in stride(from: 0, to: objects.count, by: size) {
            let members = objects[start..<min(start + size, objects.count)].filter {
                $0.state.contains(.fault) && !$0.state.contains(.valuesPending)
            }
            let batch = FetchBatch(members.map(\.identifier))
            for member in members {
                member.state.insert(.inBatch)
                batches[member.identifier] = batch
            }
        }
    }

    private func loadBatch(_ batch: FetchBatch) {
        guard let source = persistentStoreCoordinator, let rows = try? source.rows(for: batch.identifiers) else {
            return
        }
        let stamp = source.generation
        for row in rows { _ = object(for: row, asFault: false, refreshing: false, stamp: stamp) }
        for identifier in batch.identifiers { batches[identifier] = nil }
    }

    /// Loads what relationships lead to, a query a relationship.
    private func prefetch(_ keyPaths: [String], for objects: [NSManagedObject]) throws {
        guard !keyPaths.isEmpty, let source = persistentStoreCoordinator else { return }
        for keyPath in keyPaths {
            var level = objects
            for key in keyPath.split(separator: ".") {
                guard !level.isEmpty else { break }
                var missing: [NSManagedObjectID] = []
                var next: [NSManagedObject] = []
                for object in level {
                    guard let relationship = object.layout.relationship(named: String(key)) else {
                        throw StoreError.make(
                            CoreDataErrorCode.coreData,
                            "“\(keyPath)” cannot be prefetched: entity “\(object.layout.name)” has no relationship “\(key)”."
                        )
                    }
                    next +=
                        relationship.isToMany
                        ? object.toManyObjects(relationship) : object.toOne(relationship).map { [$0] } ?? []
                }
                for object in next where object.isFault && !object.state.contains(.valuesPending) {
                    missing.append(object.identifier)
                }
                let stamp = source.generation
                for row in try source.rows(for: missing) {
                    _ = object(for: row, asFault: true, refreshing: false, stamp: stamp)
                }
                level = next
            }
        }
    }

    /// Loads the members of a to-many relationship.
    func load(_ members: ToManyMembers, of relationship: RelationshipLayout, for object: NSManagedObject) {
        guard !object.identifier.isTemporaryID, let source = persistentStoreCoordinator else { return members.load([]) }
        do {
            let identifiers = try source.relatedIdentifiers(of: relationship, for: object.identifier)
            members.load(identifiers.map { self.object(with: $0) })
        } catch {
            programmerError(
                "relationship “\(object.layout.name).\(relationship.name)” cannot be read: "
                    + (error as NSError).localizedDescription)
        }
    }

    /// The objects that a fetched property finds.
    func fetchedPropertyValue(_ property: NSPropertyDescription, of object: NSManagedObject) -> Any? {
        guard let description = property as? NSFetchedPropertyDescription, let template = description.fetchRequest,
            let request = template.copy() as? NSFetchRequest<any NSFetchRequestResult>
        else { return nil }
        request.predicate = template.predicate?.withSubstitutionVariables([
            "FETCH_SOURCE": object, "FETCHED_PROPERTY": description,
        ])
        return try? results(of: request)
    }
}
