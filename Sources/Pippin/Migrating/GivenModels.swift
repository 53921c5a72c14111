import CoreData

/// The models that the closures of a step give along with theirs, in the store that is being made: each once.
final class GivenModels: KnownObjects {
    /// A migration of many objects lets go of those that are saved; an identifier leads to them again.
    private enum Place {
        case object(NSManagedObject)
        case identifier(NSManagedObjectID)
    }

    private let context: NSManagedObjectContext
    /// By entity and identifier.
    private var places: [String: [RecordKey: Place]] = [:]
    /// How many new objects there are before the saved ones are let go.
    private var limit = 2000

    init(_ context: NSManagedObjectContext) { self.context = context }

    func object(_ key: RecordKey, of plan: EntityPlan) throws -> NSManagedObject? {
        if places[plan.name] == nil { places[plan.name] = try stored(plan) }
        let object: NSManagedObject
        switch places[plan.name]?[key] {
        case .object(let known): object = known
        case .identifier(let identifier): object = try context.existingObject(with: identifier)
        case nil: return nil
        }
        // An owned model that another closure has dropped is given anew.
        return object.isDeleted || object.managedObjectContext == nil ? nil : object
    }

    func note(_ object: NSManagedObject, _ key: RecordKey, of plan: EntityPlan) {
        places[plan.name, default: [:]][key] = .object(object)
        limit -= 1
        guard limit == 0 else { return }
        limit = 2000
        places = places.mapValues { $0.mapValues(Self.settled) }
    }

    /// What the mappings of the step have made so far.
    private func stored(_ plan: EntityPlan) throws -> [RecordKey: Place] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.returnsObjectsAsFaults = false
        var places: [RecordKey: Place] = [:]
        for case let object as NSManagedObject in try context.fetch(request) {
            guard let key = object.value(forKey: plan.uidKey) else { continue }
            places[RecordKey(attributeValue: key)] = Self.settled(.object(object))
        }
        return places
    }

    private static func settled(_ place: Place) -> Place {
        guard case .object(let object) = place, !object.objectID.isTemporaryID, !object.hasChanges else { return place }
        return .identifier(object.objectID)
    }
}
