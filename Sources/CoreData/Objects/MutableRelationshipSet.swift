import Foundation

/// The set returned by `mutableSetValue(forKey:)`, and by accessors that are declared as `NSMutableSet`: changes to it
/// are changes of the relationship.
final class MutableRelationshipSet: NSMutableSet {
    private let object: NSManagedObject
    private let relationship: RelationshipLayout
    /// Whether this is the primitive value, whose user notifies observers.
    private let isPrimitive: Bool

    init(_ object: NSManagedObject, _ relationship: RelationshipLayout, isPrimitive: Bool = false) {
        self.object = object
        self.relationship = relationship
        self.isPrimitive = isPrimitive
        super.init(capacity: 0)
    }

    required init(capacity numItems: Int) {
        programmerError("a relationship's set is made by mutableSetValue(forKey:)")
    }

    required init?(coder aDecoder: NSCoder) { nil }

    private var members: ToManyMembers {
        if object.isFault { object.fireFault() }
        return object.loadedToManyMembers(relationship)
    }

    override var count: Int { members.members.count }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject, members.contains(object) else { return nil }
        return object
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: members.all).objectEnumerator() }

    override var allObjects: [Any] { members.all }

    override func add(_ object: Any) {
        guard let added = object as? NSManagedObject else { return refuse(object) }
        change { self.object.addToMany(relationship, added) }
    }

    override func remove(_ object: Any) {
        guard let removed = object as? NSManagedObject else { return }
        change { self.object.removeFromToMany(relationship, removed) }
    }

    // Many members are one change for observers.

    override func removeAllObjects() { removeAll(members.all) }

    override func addObjects(from array: [Any]) { addAll(array) }

    override func union(_ otherSet: Set<AnyHashable>) { addAll(otherSet.map(\.base)) }

    override func minus(_ otherSet: Set<AnyHashable>) {
        let members = members
        removeAll(otherSet.compactMap { $0.base as? NSManagedObject }.filter(members.contains))
    }

    override func intersect(_ otherSet: Set<AnyHashable>) {
        removeAll(members.all.filter { !otherSet.contains($0) })
    }

    override func setSet(_ otherSet: Set<AnyHashable>) {
        let wanted = otherSet.compactMap { added($0.base) }
        change { object.setToMany(relationship, to: wanted) }
    }

    private func addAll(_ objects: [Any]) {
        let new = objects.compactMap(added)
        change { object.addToMany(relationship, all: new) }
    }

    private func removeAll(_ removed: [NSManagedObject]) {
        change { object.removeFromToMany(relationship, all: removed) }
    }

    private func change(_ body: () -> Void) {
        if isPrimitive { object.withoutNotifying(relationship.name, body) } else { body() }
    }

    /// An object that is to be a member.
    private func added(_ object: Any) -> NSManagedObject? {
        if let object = object as? NSManagedObject { return object }
        refuse(object)
        return nil
    }

    private func refuse(_ value: Any) {
        programmerError(
            "“\(object.layout.name).\(relationship.name)” holds \(relationship.destination.name) objects, not a "
                + "\(type(of: value))")
    }
}

extension NSManagedObject {
    final func makeMutableSet(_ key: String) -> NSMutableSet {
        MutableRelationshipSet(self, toManyRelationship(key))
    }

    final func makeMutableOrderedSet(_ key: String) -> NSMutableOrderedSet {
        let relationship = toManyRelationship(key)
        if !relationship.isOrdered {
            programmerError("“\(layout.name).\(key)” is not ordered; use mutableSetValue(forKey:)")
        }
        return storedContext?.kept(of: self, relationship) ?? MutableRelationshipOrderedSet(self, relationship)
    }

    private func toManyRelationship(_ key: String) -> RelationshipLayout {
        let name = layout.propertyByName[key] == nil ? layout.nameByAccessor(of: key) ?? key : key
        guard let relationship = layout.relationship(named: name) else { unknownKey(key) }
        if !relationship.isToMany { programmerError("“\(layout.name).\(key)” is a to-one relationship") }
        return relationship
    }
}
