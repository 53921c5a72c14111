import CoreData

// The managed objects of an entity in a context, on whose queue this runs.
extension EntityPlan {
    func description(in context: NSManagedObjectContext) throws -> NSEntityDescription {
        let known = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        guard let entity = known[name] else { throw PersistenceError.unknownEntity(name, known: Array(known.keys)) }
        return entity
    }

    /// The objects with these identifiers, by identifier.
    ///
    /// If `areConnected`, the lists of these objects are asked for next, and are fetched at once.
    ///
    /// - SQL: `SELECT … WHERE <uid> IN (?, …)` in batches
    func objects(
        keys: [Any], areConnected: Bool = false, in context: NSManagedObjectContext
    ) throws -> [RecordKey: NSManagedObject] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        // Many new models usually come into an empty table.
        if keys.count > Portion.identifiers, try context.count(for: request) == 0 { return [:] }
        request.returnsObjectsAsFaults = false
        if areConnected { request.relationshipKeyPathsForPrefetching = listNames }
        var found: [RecordKey: NSManagedObject] = [:]
        for portion in keys.portions() {
            request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [uidKey, Array(portion)])
            for case let object as NSManagedObject in try context.fetch(request) {
                guard let uid = object.value(forKey: uidKey) else { continue }
                found[RecordKey(attributeValue: uid)] = object
            }
        }
        if keys.first is Date { Self.restore(keys.map(RecordKey.init(attributeValue:)), &found) }
        return found
    }

    /// Puts objects under the keys that were asked for: servers return slightly different dates.
    private static func restore(_ asked: [RecordKey], _ found: inout [RecordKey: NSManagedObject]) {
        let others = Array(Set(found.keys).subtracting(asked))
        var places = NodePlaces()
        for (place, key) in others.enumerated() { _ = places.place(of: key, orPut: place) }
        for key in asked where found[key] == nil {
            if let place = places.place(of: key) { found[key] = found.removeValue(forKey: others[place]) }
        }
    }

    func objects(_ selection: RecordSelection, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        request.predicate = selection.predicate
        request.sortDescriptors = selection.sortDescriptors
        request.fetchLimit = selection.limit ?? 0
        request.fetchOffset = selection.offset
        return try context.fetch(request).compactMap { $0 as? NSManagedObject }
    }
}

extension EntityPlan {
    /// The names of the relationships to many, each of which a store would be asked for object by object; nil for none.
    var listNames: [String]? {
        let names = relationships.map { fields[$0] }.filter(\.isToMany).map(\.name)
        return names.isEmpty ? nil : names
    }
}

extension NSManagedObject {
    /// Sets a model's values. Equal values are not set, so that an unchanged object does not count as changed.
    ///
    /// - Parameters:
    ///   - new: the values, by field.
    ///   - plan: the model's properties.
    ///   - slots: the slots of the fields in the store's rows.
    ///   - isNew: whether the object was just inserted.
    ///   - fields: what a stored object gets values of; nil for all of its properties.
    ///   - uid: the identifier of a stored model whose values are merged; nil for one whose values are replaced.
    /// - Throws: ``PersistenceError/Code/unwritable`` if a value that is merged would lose a part of the stored one.
    func take(
        _ new: ContiguousArray<StoredValue>, of plan: EntityPlan, _ slots: ContiguousArray<Int>, isNew: Bool,
        setting fields: GivenFields? = nil, merging uid: String? = nil
    ) throws {
        for index in plan.fields.indices {
            // This covers the usual case without looking at the field.
            if isNew, plan.record.attributeKinds[index] != nil {
                setStoredValue(new[index], at: slots[index])
                continue
            }
            if !isNew, let fields, !fields.has(index, of: plan) { continue }
            let field = plan.fields[index]
            let uid = isNew || !field.isMerged ? nil : uid
            switch field.kind {
            case .attribute, .json:
                let slot = slots[index]
                let stored = storedValue(at: slot)
                guard isNew || stored != new[index] else { continue }
                let value = try uid.map { try plan.merged(new[index], into: stored, index, of: $0) } ?? new[index]
                if isNew || value != stored { setStoredValue(value, at: slot) }
            case .composite(let record):
                let former = (self.value(forKey: field.name) as? [String: Any]).map { CompositeValue($0) }
                guard !record.isSame(new[index].composite, former) else { continue }
                let stored = former.map { StoredValue.object($0) } ?? .null
                let value = try uid.map { try plan.merged(new[index], into: stored, index, of: $0) } ?? new[index]
                if value != stored { setValue(value.composite?.elements, forKey: field.name) }
            case .toOne, .toMany: continue
            }
        }
    }

    /// The slots of an entity's fields in the store's rows; -1 for a to-many relationship.
    func slots(of plan: EntityPlan) -> ContiguousArray<Int> {
        ContiguousArray(plan.fields.map { layout.slotIndex(forName: $0.name) ?? -1 })
    }
}
