import Foundation

extension NSManagedObjectContext {
    /// Fetches what a request describes: objects, IDs, dictionaries or a count, depending on its result type.
    ///
    /// ```swift
    /// let request = NSFetchRequest<Person>(entityName: "Person")
    /// request.predicate = NSPredicate(format: "age > %d", 30)
    /// // SELECT Z_PK, Z_ENT, Z_OPT, … FROM ZPERSON WHERE ZAGE > ?
    /// let people = try context.fetch(request)
    /// ```
    ///
    /// - Parameter request: the request; `T` is the type of the results.
    /// - Returns: the results, in the order of the sort descriptors.
    /// - Throws: an error in the Cocoa domain if the request names an unknown entity or property, asks for something
    ///   that the store cannot do, or the store cannot be read.
    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        if let type = T.self as? NSManagedObject.Type {
            learn(type)
            if request.resultType.isDisjoint(with: [
                .managedObjectIDResultType, .dictionaryResultType, .countResultType,
            ]) {
                let layout = try entity(of: request)
                let objects = try objects(of: request, layout)
                if areAllKnown(as: T.self, layout, includesSubentities: request.includesSubentities)
                    || Self.areAll(objects, T.self)
                {
                    // Every element is of the class `T`; only the static type differs. A cast would check each element
                    // again, slowly.
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

    /// Whether all objects are of the type `T`; checked once for consecutive objects of one class.
    static func areAll<T>(_ objects: [some NSObject], _ wanted: T.Type) -> Bool {
        var last: AnyClass?
        for object in objects {
            let type = type(of: object)
            if type == last { continue }
            guard object is T else { return false }
            last = type
        }
        return true
    }

    /// The number of results that fetching a request would give.
    ///
    /// - Parameter request: the request; of its result type, only whether it is dictionaries matters.
    /// - Returns: the number of objects, including unsaved changes; of dictionaries, which are of saved objects only,
    ///   those of groups and distinct ones once.
    /// - Throws: the errors that fetching the request throws.
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
        checkQueue()
        try pinIfNeeded()
        guard let modelLayout, source != nil else { throw Self.noSource("fetch") }
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
        request.resolve(to: layout.description)
        return layout
    }

    func plan(for request: any FetchDescription, _ layout: EntityLayout) -> FetchPlan {
        var plan = FetchPlan(entity: layout)
        plan.includesSubentities = request.includesSubentities
        plan.predicate = request.predicate.map { withCurrentIdentifiers($0).read(for: layout) }
        plan.sortDescriptors = request.sortDescriptors ?? []
        plan.limit = request.fetchLimit
        plan.offset = max(request.fetchOffset, 0)
        return plan
    }

    private func objects(of request: any FetchDescription, _ layout: EntityLayout) throws -> [NSManagedObject] {
        try request.checkForObjects()
        let plan = plan(for: request, layout)
        if request.shouldRefreshRefetchedObjects { registerBeforeTaking() }
        let pending =
            try request.includesPendingChanges ? pendingChanges(for: plan, in: request.affectedStores) : .none
        let objects = try fetchObjects(plan, request.affectedStores, pending: pending, FetchStyle(request))
        try prefetch(request.relationshipKeyPathsForPrefetching ?? [], for: objects)
        return objects
    }

    private func identifiers(of request: any FetchDescription, _ layout: EntityLayout) throws -> [NSManagedObjectID] {
        try request.checkForObjects()
        let plan = plan(for: request, layout)
        guard request.includesPendingChanges else {
            guard let source, source.evaluatesInMemory(plan, stores: request.affectedStores) else {
                return try source?.fetchIdentifiers(plan, stores: request.affectedStores) ?? []
            }
            return try fetchObjects(plan, request.affectedStores, pending: .none, FetchStyle()).map(\.identifier)
        }
        return try fetchIdentifiers(plan, request.affectedStores)
    }

    func count(of request: any FetchDescription) throws -> Int {
        let layout = try entity(of: request)
        let hasDictionaries = request.resultType == .dictionaryResultType
        if hasDictionaries, request.combinesObjects { return try dictionaries(of: request, layout).count }
        let plan = plan(for: request, layout)
        guard request.includesPendingChanges, !hasDictionaries else {
            guard let source, source.evaluatesInMemory(plan, stores: request.affectedStores) else {
                return try source?.fetchCount(plan, stores: request.affectedStores) ?? 0
            }
            return try fetchObjects(plan, request.affectedStores, pending: .none, FetchStyle()).count
        }
        return try fetchCount(plan, request.affectedStores)
    }

    private func dictionaries(of request: any FetchDescription, _ layout: EntityLayout) throws -> [NSDictionary] {
        guard let source else { return [] }
        var plan = plan(for: request, layout)
        plan.columns = try columns(of: request, layout)
        let names = plan.columns.map(\.name)
        for group in request.propertiesToGroupBy ?? [] {
            guard let name = (group as? NSPropertyDescription)?.name ?? group as? String else { continue }
            plan.groupBy.append(name)
            guard let computed = group as? NSExpressionDescription, !names.contains(name) else { continue }
            plan.groupColumns.append(try column(of: computed, layout))
        }
        plan.having = request.havingPredicate.map { withCurrentIdentifiers($0).read(for: layout) }
        plan.isDistinct = request.returnsDistinctResults
        try plan.checkGroups()
        let rows = try source.fetchDictionaries(plan, stores: request.affectedStores)
        var keys = SharedKeys()
        return rows.map { keys.dictionary($0) }
    }

    private func columns(of request: any FetchDescription, _ layout: EntityLayout) throws -> [FetchColumn] {
        guard let wanted = request.propertiesToFetch, !wanted.isEmpty else {
            return layout.slots.filter { !$0.isTransient }.map { .keyPath($0.name) }
        }
        return try wanted.map { property in
            switch property {
            case let expression as NSExpressionDescription: return try column(of: expression, layout)
            case let description as NSPropertyDescription: return .keyPath(description.name)
            case let name as String: return .keyPath(name)
            default:
                throw StoreError.make(
                    CoreDataErrorCode.coreData,
                    "propertiesToFetch has a \(type(of: property)); it wants property names or descriptions.")
            }
        }
    }

    private func column(of computed: NSExpressionDescription, _ layout: EntityLayout) throws -> FetchColumn {
        if let value = computed.expression {
            return .expression(name: computed.name, value, computed.expressionResultType)
        }
        // Without an expression, the description stands for the property of its name, as in Core Data.
        if layout.description.propertiesByName[computed.name] != nil { return .keyPath(computed.name) }
        throw StoreError.make(
            CoreDataErrorCode.coreData, "The expression description “\(computed.name)” has no expression.")
    }
}

/// Makes Foundation dictionaries that share the same few keys, each of which becomes an object only once.
struct SharedKeys {
    private var keys: [String: NSString] = [:]

    /// - Parameter values: the values by name.
    /// - Returns: the values as a Foundation dictionary.
    mutating func dictionary(_ values: [String: Any]) -> NSDictionary {
        var (names, objects) = ([NSObject](), [Any]())
        names.reserveCapacity(values.count)
        objects.reserveCapacity(values.count)
        for (name, value) in values {
            names.append(key(name))
            objects.append(value)
        }
        return NSDictionary(objects: objects, forKeys: names)
    }

    private mutating func key(_ name: String) -> NSString {
        if let known = keys[name] { return known }
        let key = name as NSString
        keys[name] = key
        return key
    }
}

/// Objects that were fetched together with a batch size: if one is needed, its whole batch is loaded.
///
/// An object in a batch has the batch's number; see `ObjectState.inBatch`.
struct FetchBatches {
    private var identifiers: [UInt32: [NSManagedObjectID]] = [:]
    private var last: UInt32 = 0

    /// Adds a batch.
    ///
    /// - Returns: the batch's number.
    mutating func add(_ batch: [NSManagedObjectID]) -> UInt32 {
        last &+= 1
        identifiers[last] = batch
        return last
    }

    /// Removes and returns a batch that is about to be loaded; `nil` if it was removed before.
    mutating func take(_ number: UInt32) -> [NSManagedObjectID]? { identifiers.removeValue(forKey: number) }

    mutating func removeAll(where isGone: ([NSManagedObjectID]) -> Bool) {
        guard !identifiers.isEmpty else { return }
        identifiers = identifiers.filter { !isGone($0.value) }
    }
}

extension NSFetchRequest: FetchingOperand {
    /// The results of the request, for `FETCH(…)` in a predicate that is evaluated in memory.
    package func fetchedValue(in context: Any?, countOnly: Bool) -> Value {
        guard let context = context as? NSManagedObjectContext else {
            programmerError("FETCH in a predicate needs a managed object context to run its request in memory")
        }
        do {
            if countOnly { return .integer(Int64(try context.count(for: self))) }
            let results = try context.results(of: self)
            guard resultType == .dictionaryResultType else { return Value(results) }
            // Each dictionary contributes its only value.
            return .collection(results.map { Value(($0 as? [String: Any])?.values.first) })
        } catch {
            programmerError("FETCH of “\(entityName ?? "")” in a predicate failed. \(error.localizedDescription)")
        }
    }
}

/// A fetch request of any type, which a context executes at once.
protocol ImmediateFetch {
    /// Fetches in a context.
    ///
    /// - Returns: the results, as those of an asynchronous fetch that has ended.
    /// - Throws: the errors of fetching.
    func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

/// All objects of a context, if it keeps them alive.
struct RetainedObjects {
    private(set) var isActive = false
    private var objects: Set<NSManagedObject> = []

    /// Begins or ends to keep objects alive.
    ///
    /// - Parameter all: the objects of the context; `nil` to keep none.
    mutating func keep(_ all: [NSManagedObject]?) {
        isActive = all != nil
        objects = Set(all ?? [])
    }

    @inline(__always)
    mutating func insert(_ object: NSManagedObject) { if isActive { objects.insert(object) } }

    mutating func remove(_ object: NSManagedObject) { if !objects.isEmpty { objects.remove(object) } }

    /// Releases the objects of a context that forgets all. Later ones are kept again.
    mutating func reset() { objects = [] }
}

// Work on more objects than fit in memory: each portion is saved and released before the next one.
extension NSManagedObjectContext {
    /// Saves all changes without validating them, for a caller that validates everything at the end.
    func savePortion() throws {
        saving.validates = false
        defer { saving.validates = true }
        try save()
    }

    /// Turns unchanged objects into faults, so that they do not keep each other alive.
    func loosen() {
        for object in table.all where !object.relations.isEmpty && !object.hasChanges { object.becomeFault() }
    }

    /// The objects with some IDs and their values, in one query, without deleted ones.
    func loadedObjects(_ identifiers: [NSManagedObjectID]) throws -> [NSManagedObject] {
        guard let source else { throw Self.noSource("fetch") }
        let objects = identifiers.map { objectOrFault($0) }
        let stamp = source.generation
        for row in try source.rows(for: objects.filter(\.isFault).map(\.identifier)) {
            _ = object(for: row, asFault: false, refreshing: false, stamp: stamp)
        }
        return objects.filter { !$0.isFault && !$0.isDeleted }
    }
}
