import Foundation
import StoreSession

extension NSBatchInsertRequest: ExecutableRequest {
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any {
        let layout = try context.entity(named: entityName, for: "A batch insertion")
        var plan = BatchInsertPlan(entity: layout)
        plan.conflicts = Self.rule(of: context.mergePolicy)
        plan.wantsIdentifiers = resultType == .objectIDs
        plan.origin = try context.changeOrigin()
        let outcome = try insert(plan, source)
        return NSBatchInsertResult(result: outcome.result(resultType.rawValue), resultType: resultType)
    }

    private static func rule(of policy: Any) -> BatchConflictRule {
        switch (policy as? NSMergePolicy)?.mergeType {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: return .replace
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return .keep
        case .errorMergePolicyType, nil: return .fail
        }
    }

    private func insert(_ plan: BatchInsertPlan, _ source: NSPersistentStoreCoordinator) throws -> BatchOutcome {
        let reader = BatchRowReader(plan.entity, tracksGiven: plan.conflicts == .replace)
        if let objectsToInsert {
            var position = 0
            var plan = plan
            plan.rewind = { position = 0 }
            return try source.session.insertBatch(plan, stores: affectedStores?.map(\.sessionStore)) { row in
                guard position < objectsToInsert.count else { return false }
                for (key, value) in objectsToInsert[position] { try reader.set(value, key, in: &row, position) }
                try reader.checkRequired(row, position)
                position += 1
                return true
            }
        }
        if let dictionaryHandler {
            let dictionary = NSMutableDictionary()
            var position = 0
            return try source.session.insertBatch(plan, stores: affectedStores?.map(\.sessionStore)) { row in
                dictionary.removeAllObjects()
                if dictionaryHandler(dictionary) { return false }
                for (key, value) in dictionary {
                    guard let key = key as? String else { continue }
                    try reader.set(value, key, in: &row, position)
                }
                try reader.checkRequired(row, position)
                position += 1
                return true
            }
        }
        if let managedObjectHandler { return try insert(plan, source, reader, managedObjectHandler) }
        throw StoreError.make(
            CoreDataErrorCode.coreData,
            "The batch insertion into “\(entityName)” has neither objectsToInsert nor a handler, so there is nothing to insert."
        )
    }

    /// Hands out objects of a private context.
    private func insert(
        _ plan: BatchInsertPlan, _ source: NSPersistentStoreCoordinator, _ reader: BatchRowReader,
        _ handler: (NSManagedObject) -> Bool
    ) throws -> BatchOutcome {
        let scratch = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        scratch.persistentStoreCoordinator = source
        return try scratch.performAndWait { () throws -> BatchOutcome in
            var position = 0
            var objects = BatchObjects(plan.entity, in: scratch)
            return try source.session.insertBatch(plan, stores: affectedStores?.map(\.sessionStore)) { row in
                let object = objects.next()
                if handler(object) { return false }
                for slot in row.values.indices {
                    let value = object.values[slot]
                    if case .object(let other) = value, other is UnacceptableValue,
                        let attribute = plan.entity.slots[slot].attribute
                    {
                        // The error names the value and the object.
                        _ = try BatchRowReader.checked(value.objectValue(for: attribute), plan.entity, slot, position)
                    }
                    row.values[slot] = value
                }
                try reader.checkRequired(row, position)
                position += 1
                return true
            }
        }
    }
}
