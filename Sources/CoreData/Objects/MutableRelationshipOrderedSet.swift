import Foundation

/// The ordered set that `mutableOrderedSetValue(forKey:)` gives: what is done to it is done to the relationship.
///
/// Foundation's class works on storage of its own in most of its methods, which are therefore given here. Those that
/// cannot be overridden (`array`, `set`, enumeration) find a copy of the members there, as of the last change made here.
final class MutableRelationshipOrderedSet: NSMutableOrderedSet {
    private let object: NSManagedObject
    private let relationship: RelationshipLayout

    init(_ object: NSManagedObject, _ relationship: RelationshipLayout) {
        self.object = object
        self.relationship = relationship
        super.init(capacity: 0)
        mirror()
    }

    required init?(coder aDecoder: NSCoder) { nil }

    required init(arrayLiteral elements: Any...) {
        programmerError("a relationship's ordered set is made by mutableOrderedSetValue(forKey:)")
    }

    private var members: [NSManagedObject] { object.toManyObjects(relationship) }

    private func hasMember(_ member: NSManagedObject) -> Bool {
        if object.isFault { object.fireFault() }
        return object.loadedToManyMembers(relationship).contains(member)
    }

    /// What the set is now, as one that is no longer tied to the relationship.
    private var detached: NSOrderedSet { NSOrderedSet(array: members) }

    private var isMirroring = false

    /// Gives Foundation's storage the members.
    private func mirror() {
        isMirroring = true
        super.removeAllObjects()
        super.addObjects(from: members)
        isMirroring = false
    }

    /// Gives Foundation's storage what others have added or removed.
    private func mirrorOthers() {
        if super.count != members.count { mirror() }
    }

    private func write(_ wanted: [Any]) {
        object.setToMany(relationship, to: wanted.compactMap { $0 as? NSManagedObject })
        mirror()
    }

    /// Has a detached copy changed, and takes over what it becomes.
    private func change(_ body: (NSMutableOrderedSet) -> Void) {
        let copy = NSMutableOrderedSet(array: members)
        body(copy)
        write(copy.array)
    }

    // MARK: Reading

    override var count: Int { members.count }
    override func object(at idx: Int) -> Any { members[idx] }
    override func index(of object: Any) -> Int { members.firstIndex { $0 === object as AnyObject } ?? NSNotFound }
    override func contains(_ object: Any) -> Bool {
        if isMirroring { return super.contains(object) }
        guard let object = object as? NSManagedObject else { return false }
        return hasMember(object)
    }
    override func objects(at indexes: IndexSet) -> [Any] { indexes.map { members[$0] } }
    override func copy(with zone: NSZone? = nil) -> Any { detached }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }
    override func isEqual(to other: NSOrderedSet) -> Bool { detached.isEqual(to: other) }
    override func isEqual(_ value: Any?) -> Bool { detached.isEqual(value) }
    override var hash: Int { detached.hash }

    // MARK: Adding and removing

    override func insert(_ object: Any, at idx: Int) {
        guard let added = object as? NSManagedObject else { return refuse(object) }
        let position = Swift.min(Swift.max(0, idx), members.count)
        self.object.addToMany(relationship, added, at: position)
        // A member stays where it is, in Foundation's storage, too.
        isMirroring = true
        super.insert(added, at: Swift.min(position, super.count))
        isMirroring = false
        mirrorOthers()
    }

    override func add(_ object: Any) {
        guard let added = object as? NSManagedObject else { return refuse(object) }
        self.object.addToMany(relationship, added)
        isMirroring = true
        super.add(added)
        isMirroring = false
        mirrorOthers()
    }

    override func addObjects(from array: [Any]) { array.forEach(add) }

    override func removeObject(at idx: Int) { remove(members[idx]) }

    override func remove(_ val: Any) {
        guard let removed = val as? NSManagedObject, hasMember(removed) else { return }
        object.removeFromToMany(relationship, removed)
        super.remove(removed)
    }

    override func removeAllObjects() { write([]) }

    override func replaceObject(at idx: Int, with obj: Any) { change { $0.replaceObject(at: idx, with: obj) } }

    override func setObject(_ obj: Any, at idx: Int) {
        idx == count ? add(obj) : replaceObject(at: idx, with: obj)
    }

    // MARK: Other orders, and sets

    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
        var order = members
        order.swapAt(idx1, idx2)
        write(order)
    }

    override func moveObjects(at indexes: IndexSet, to idx: Int) {
        let moved = indexes.map { members[$0] }
        var order = members.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
        order.insert(contentsOf: moved, at: Swift.min(idx, order.count))
        write(order)
    }

    override func intersect(_ other: NSOrderedSet) { write(members.filter { other.contains($0) }) }
    override func minus(_ other: NSOrderedSet) { write(members.filter { !other.contains($0) }) }
    override func union(_ other: NSOrderedSet) { other.array.forEach(add) }
    override func intersectSet(_ other: Set<AnyHashable>) { write(members.filter { other.contains($0) }) }
    override func minusSet(_ other: Set<AnyHashable>) { write(members.filter { !other.contains($0) }) }
    override func unionSet(_ other: Set<AnyHashable>) { other.forEach { add($0.base) } }

    override func sortRange(
        _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
    ) { change { $0.sortRange(range, options: opts, usingComparator: cmptr) } }

    override func sort(using sortDescriptors: [NSSortDescriptor]) {
        write(NSManagedObjectContext.sorted(members, by: sortDescriptors))
    }

    private func refuse(_ value: Any) {
        programmerError(
            "“\(object.layout.name).\(relationship.name)” holds \(relationship.destination.name) objects, not a "
                + "\(type(of: value))")
    }
}
