import Foundation
import Ordering

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
