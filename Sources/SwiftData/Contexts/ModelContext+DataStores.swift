import CoreData

// Stores of a program's own types, which are asked with descriptors and answer with snapshots.
extension ModelContext {
    /// The program's own store that keeps a class's models; nil if one of SwiftData's does.
    func ownStore<T: PersistentModel>(of type: T.Type) -> DataStoreBridge? { core.bridge(of: ModelType.of(type)) }

    /// Lets the stores take snapshots of what is going to be saved.
    func prepareOwnStores() throws {
        let bridges = core.allBridges
        guard !bridges.isEmpty else { return }
        for bridge in bridges {
            func states(_ objects: Set<NSManagedObject>) -> [ModelState] {
                models(objects).compactMap(\.modelState).filter { core.bridge(of: $0.type) === bridge }
            }
            let changes = StoreChanges(
                inserted: states(objectContext.insertedObjects), updated: states(objectContext.updatedObjects),
                deleted: states(objectContext.deletedObjects))
            try bridge.prepareSave(of: changes, in: objectContext, editingState)
        }
    }
}

/// A fetch from a store of a program's own type.
struct OwnStoreFetch<T: PersistentModel> {
    let context: ModelContext
    let store: DataStoreBridge
    let descriptor: FetchDescriptor<T>

    /// The models, with unsaved changes if the descriptor includes them.
    func models() throws -> [T] {
        var asked = descriptor
        let changed = descriptor.includePendingChanges ? unsaved : []
        let hasDeletions = descriptor.includePendingChanges && !context.objectContext.deletedObjects.isEmpty
        var (filters, sorts) = (false, !changed.isEmpty)
        if !changed.isEmpty || hasDeletions { asked.forgetPart() }
        var found: [T] = []
        while true {
            do {
                found = try read(asked)
                break
            } catch DataStoreError.preferInMemoryFilter where asked.predicate != nil {
                asked.predicate = nil
                asked.forgetPart()
                filters = true
            } catch DataStoreError.preferInMemorySort where !asked.sortBy.isEmpty {
                asked.sortBy = []
                asked.forgetPart()
                sorts = true
            } catch DataStoreError.invalidPredicate {
                throw SwiftDataError.unsupportedPredicate.because("The store cannot evaluate the predicate.")
            }
        }
        if hasDeletions { found.removeAll(where: \.isDeleted) }
        let isChanged = Set(changed.map(ObjectIdentifier.init))
        found.removeAll { isChanged.contains(ObjectIdentifier($0)) }
        if filters { found = try found.filter(matches) }
        found += try changed.filter(matches)
        if sorts { try sort(&found) }
        guard asked != descriptor else { return found }
        let rest = found.dropFirst(descriptor.fetchOffset ?? 0)
        return Array(descriptor.fetchLimit.map { $0 > 0 ? rest.prefix($0) : rest } ?? rest)
    }

    /// The models that were inserted or changed, and not saved.
    private var unsaved: [T] {
        context.insertedModelsArray.compactMap { $0 as? T } + context.changedModelsArray.compactMap { $0 as? T }
    }

    private func matches(_ model: T) throws -> Bool { try descriptor.predicate?.evaluate(model) ?? true }

    /// What the store has. Models that the context knows show the values that were read, unless they are changed.
    private func read(_ asked: FetchDescriptor<T>) throws -> [T] {
        let type = ModelType.of(T.self)
        let layout = try FetchTranslation(places: context).layout(of: type)
        let result = try store.using { try $0.fetch(asked, for: context.editingState) }
        let changed = store.register(result.found + result.related)
        for identifier in changed {
            guard let known = self.layout(identifier, layout).flatMap({ store.objectID(of: identifier, $0) }),
                let object = context.objectContext.registeredObject(for: known), !object.isFault
            else { continue }
            context.objectContext.refresh(object, mergeChanges: true)
            (object as? ModelObject)?.modelState?.notifyAll()
        }
        return result.found.compactMap { snapshot in
            guard let layout = self.layout(snapshot.identifier, layout) else { return nil }
            let object = context.objectContext.object(with: store.objectID(of: snapshot.identifier, layout))
            return (object as? ModelObject).flatMap { context.model(of: $0) as? T }
        }
    }

    /// The entity of an identifier: that of the descriptor's class, or a subentity.
    private func layout(_ identifier: PersistentIdentifier, _ root: EntityLayout) -> EntityLayout? {
        root.selfAndSubentities.first { $0.name == identifier.entityName }
    }

    /// Sorts as a store of SwiftData's own does: texts by the rules of the locale.
    private func sort(_ models: inout [T]) throws {
        let orders = try descriptor.sortBy.map { try FetchTranslation(places: context).memoryOrder($0) }
        models.sort { left, right in
            for order in orders {
                switch order(left, right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }
}

extension FetchDescriptor {
    /// Asks for all, of which a part is taken later.
    fileprivate mutating func forgetPart() { (fetchLimit, fetchOffset) = (nil, nil) }
}
