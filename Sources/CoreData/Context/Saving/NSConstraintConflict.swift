import Foundation

/// A conflict between objects that share values which must be unique.
open class NSConstraintConflict: NSObject {
    /// The properties whose values must be unique together.
    open var constraint: [String] { sides.constraint }
    /// The shared values, by property; `NSNull` stands for nil.
    open var constraintValues: [String: Any] { sides.values }
    /// The object of the row that has the values already; `nil` if all objects are unsaved.
    open var databaseObject: NSManagedObject? { sides.databaseObject }
    /// The values of that row.
    open var databaseSnapshot: [String: Any]? { sides.databaseSnapshot }
    /// The unsaved objects.
    open var conflictingObjects: [NSManagedObject] { sides.conflictingObjects }
    /// The values with which they were fetched.
    open var conflictingSnapshots: [[AnyHashable: Any]] { sides.conflictingSnapshots }

    /// What the members say, which subclasses that stand in for a conflict in tests override.
    private struct Sides {
        let constraint: [String]
        let values: [String: Any]
        let databaseObject: NSManagedObject?
        let databaseSnapshot: [String: Any]?
        let conflictingObjects: [NSManagedObject]
        let conflictingSnapshots: [[AnyHashable: Any]]
    }

    private let sides: Sides

    /// Creates a conflict, for testing merge policies.
    ///
    /// - Parameters:
    ///   - contraint: the properties whose values must be unique together.
    ///   - databaseObject: the object of the row that has the values already.
    ///   - databaseSnapshot: the values of that row.
    ///   - conflictingObjects: the unsaved objects.
    ///   - conflictingSnapshots: the values with which these were fetched.
    public init(
        constraint contraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        let example = conflictingObjects.last
        let values = Dictionary(
            contraint.map { ($0, example?.value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
        sides = Sides(
            constraint: contraint, values: values, databaseObject: databaseObject,
            databaseSnapshot: databaseSnapshot as? [String: Any], conflictingObjects: conflictingObjects,
            conflictingSnapshots: conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] })
    }

    /// Creates an empty conflict, as the superclass allows.
    public override convenience init() {
        self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    /// Keeps one object: the row's if there is one, otherwise the one that was inserted first, or last if the context
    /// wins.
    ///
    /// - Parameters:
    ///   - type: which side wins.
    ///   - own: the relationships that are values of the objects as attributes are: the winning object's are kept, and
    ///     not joined with those of the others. The others are the objects' places in the relationships of other
    ///     objects. The value says whether destinations are deleted that are left.
    package final func resolve(_ type: NSMergePolicyType, own: [String: Bool] = [:]) {
        let contextWins = type == .overwriteMergePolicyType || type == .mergeByPropertyObjectTrumpMergePolicyType
        var losers = conflictingObjects
        guard let survivor = databaseObject ?? (contextWins ? losers.last : losers.first) else { return }
        losers.removeAll { $0 === survivor }
        let taken = contextWins && databaseObject != nil ? losers : []
        let destinations =
            taken.last.map { last in
                own.sorted { $0.key < $1.key }.map { ($0.key, last.destinations($0.key), $0.value) }
            } ?? []
        for loser in taken { survivor.takeChanges(of: loser) }
        let going = losers.filter { $0.state.contains(.inserted) || contextWins }
        for loser in going { survivor.takePlace(of: loser, except: taken.isEmpty ? own : [:]) }
        let kept = IdentitySet(destinations.filter(\.2).flatMap(\.1))
        for (name, new, isOwner) in destinations {
            let left = isOwner ? survivor.destinations(name).filter { !kept.contains($0) } : []
            survivor.setDestinations(name, new)
            for object in left { object.managedObjectContext?.delete(object) }
        }
        for loser in losers {
            if loser.state.contains(.inserted) { loser.managedObjectContext?.saving.replaced.append(loser) }
            if loser.state.contains(.inserted) || contextWins {
                loser.managedObjectContext?.delete(loser)
            } else {
                loser.updatingInverses { loser.managedObjectContext?.refresh(loser, mergeChanges: false) }
            }
        }
    }
}

extension NSManagedObject {
    /// Takes the attributes and to-one relationships of another object of the same entity.
    fileprivate final func takeChanges(of other: NSManagedObject) {
        for (slot, description) in layout.slots.enumerated() {
            guard let otherSlot = other.layout.slotIndex(forName: description.name), !description.isTransient else {
                continue
            }
            switch description.kind {
            case .attribute(let attribute):
                guard attribute.derivation == nil, storedValue(at: slot) != other.storedValue(at: otherSlot) else {
                    continue
                }
                setStoredValue(other.storedValue(at: otherSlot), at: slot)
            case .toOne(let relationship):
                if let destination = other.toOne(relationship) { setToOne(relationship, to: destination) }
            }
        }
    }

    /// The objects at the end of a relationship, in order.
    fileprivate final func destinations(_ name: String) -> [NSManagedObject] {
        guard let relationship = layout.relationship(named: name) else { return [] }
        return relationship.isToMany ? toManyObjects(relationship) : toOne(relationship).map { [$0] } ?? []
    }

    fileprivate final func setDestinations(_ name: String, _ objects: [NSManagedObject]) {
        guard let relationship = layout.relationship(named: name), destinations(name) != objects else { return }
        if !relationship.isToMany {
            setToOne(relationship, to: objects.first)
        } else {
            setValue(relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects), forKey: name)
        }
    }

    /// Replaces another object, which goes, in the relationships of others, and in its place in ordered ones.
    ///
    /// - Parameters:
    ///   - other: the object to replace.
    ///   - own: relationships that the other object takes with it.
    fileprivate final func takePlace(of other: NSManagedObject, except own: [String: Bool]) {
        for relationship in other.layout.toManys where own[relationship.name] == nil {
            guard layout.relationship(named: relationship.name) === relationship else { continue }
            let list = relationship.inverse.flatMap { $0.isToMany && $0.isOrdered ? $0.name : nil }
            for destination in other.toManyObjects(relationship) {
                if let list, replace(other, in: destination.mutableOrderedSetValue(forKey: list)) { continue }
                addToMany(relationship, destination)
            }
        }
    }

    private final func replace(_ other: NSManagedObject, in list: NSMutableOrderedSet) -> Bool {
        let place = list.index(of: other)
        guard place != NSNotFound, !list.contains(self) else { return false }
        list.replaceObject(at: place, with: self)
        return true
    }
}

extension NSManagedObjectContext {
    func conflict(for violation: ConstraintViolation, among index: inout UniqueValueIndex)
        -> NSConstraintConflict
    {
        let stored = violation.stored.map { row in
            object(for: row, asFault: false, refreshing: true, stamp: source?.generation ?? 0)
        }
        let found = index.objects(of: violation).filter { $0 !== stored }
        return NSConstraintConflict(
            constraint: violation.constraint, database: stored,
            databaseSnapshot: stored.map { $0.snapshotValues($0.snapshot) }, conflicting: found,
            conflictingSnapshots: found.map { $0.snapshotValues($0.snapshot) })
    }
}
