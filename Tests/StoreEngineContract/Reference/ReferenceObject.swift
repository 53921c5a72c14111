import CoreDataModel
import Foundation
import StoreEngine

/// The objects of a store as predicates read them; two of one ID are equal.
final class ReferenceObjects {
    let store: ReferenceStore

    init(_ store: ReferenceStore) { self.store = store }

    func object(_ identifier: NSManagedObjectID) -> ReferenceObject { ReferenceObject(identifier, self) }
}

/// A row, or a reference that leads to none, as an operand of predicates.
final class ReferenceObject: NSObject, KeyedOperand {
    let identifier: NSManagedObjectID
    private let objects: ReferenceObjects

    init(_ identifier: NSManagedObjectID, _ objects: ReferenceObjects) {
        (self.identifier, self.objects) = (identifier, objects)
    }

    var operandIdentity: NSObject { identifier }

    func operand(forKey key: String) -> Value {
        if key == "self" || key == "SELF" || key == "objectID" { return .object(self) }
        guard let place = identifier.layout.propertyByName[key] else {
            return key == "entity" ? Value(identifier.layout.description) : .null
        }
        guard let row = objects.store.rows[identifier] else {
            if case .toMany = place { return .collection([]) }
            return .null
        }
        switch place {
        case .slot(let slot): return operand(row.values[slot], identifier.layout.slots[slot])
        case .toMany(let index):
            let relationship = identifier.layout.relationships[index]
            return .collection(
                objects.store.destinations(of: relationship, for: identifier).map { .object(objects.object($0)) })
        case .fetched: return .null
        }
    }

    private func operand(_ value: StoredValue, _ slot: SlotLayout) -> Value {
        if case .identifier(let destination) = value { return .object(objects.object(destination)) }
        return slot.attribute.map { Value(value.objectValue(for: $0)) } ?? .null
    }
}

/// An object of any engine as an argument of a predicate.
final class ArgumentObject: NSObject, KeyedOperand {
    private let identifier: NSManagedObjectID

    init(_ identifier: NSManagedObjectID) { self.identifier = identifier }

    var operandIdentity: NSObject { identifier }
    func operand(forKey key: String) -> Value { .object(self) }
}
