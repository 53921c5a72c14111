import Foundation

/// The ordered set returned by `mutableOrderedSetValue(forKey:)`, and by accessors that are declared as
/// `NSMutableOrderedSet`: changes to it are changes of the relationship.
///
/// Foundation's class uses storage of its own in most of its methods, which are therefore overridden here. Methods that
/// cannot be overridden (`array`, `set`, enumeration) use a copy of the members in that storage, as of the last change
/// made here. A single change is made in the copy, too; the whole copy is made again only if others changed the
/// members.
final class MutableRelationshipOrderedSet: NSMutableOrderedSet {
    let object: NSManagedObject
    let relationship: RelationshipLayout
    /// Whether this is the primitive value, whose user notifies observers.
    private let isPrimitive: Bool
    /// The members that were copied, and their version at the time.
    private var copied: (members: ToManyMembers, version: Int)?
    /// Whether Foundation's storage is being changed. Foundation asks for its members by methods that are overridden
    /// here.
    private var isCopying = false

    init(_ object: NSManagedObject, _ relationship: RelationshipLayout, isPrimitive: Bool = false) {
        self.object = object
        self.relationship = relationship
        self.isPrimitive = isPrimitive
        if object.isFault { object.fireFault() }
        let current = object.loadedToManyMembers(relationship)
        copied = (current, current.version)
        let members = current.all
        super.init(objects: members.references, count: members.count)
    }

    required init?(coder aDecoder: NSCoder) { nil }

    required init(arrayLiteral elements: Any...) {
        programmerError("a relationship's ordered set is made by mutableOrderedSetValue(forKey:)")
    }

    private var loaded: ToManyMembers {
        if object.isFault { object.fireFault() }
        return object.loadedToManyMembers(relationship)
    }

    private var members: [NSManagedObject] { loaded.all }

    /// The present members in a set that is independent of the relationship.
    private var detached: NSOrderedSet { NSOrderedSet(array: members) }

    // MARK: The copy in Foundation's storage

    /// Copies the members again if they differ from the copy.
    func bringUpToDate() {
        let current = loaded
        if let copied, copied.members === current, copied.version == current.version { return }
        inCopy {
            super.removeAllObjects()
            super.addObjects(from: current.all)
        }
        copied = (current, current.version)
    }

    /// Makes one change in the relationship, and the same one in the copy.
    ///
    /// - Parameters:
    ///   - change: the change, which affects the members, their order, or nothing.
    ///   - same: the same change of Foundation's storage.
    private func change(_ change: () -> Void, inCopy same: () -> Void) {
        let former = loaded
        let version = former.version
        let wasCurrent = copied.map { $0.members === former && $0.version == version } ?? false
        notifying(change)
        let current = loaded
        if wasCurrent, current === former, current.version == version + 1 {
            inCopy(same)
            copied = (current, current.version)
        }
        bringUpToDate()
        keep()
    }

    private func notifying(_ change: () -> Void) {
        if isPrimitive { object.withoutNotifying(relationship.name, change) } else { change() }
    }

    /// Lets the context return this set when it is asked for the relationship again.
    private func keep() { if !isPrimitive { object.storedContext?.keep(self) } }

    private func inCopy(_ body: () -> Void) {
        isCopying = true
        body()
        isCopying = false
    }

    private func write(_ wanted: [Any]) {
        let wanted = managed(wanted)
        write { object.setToMany(relationship, to: wanted) }
    }

    private func write(_ change: () -> Void) {
        notifying(change)
        bringUpToDate()
        keep()
    }

    // MARK: Reading

    override var count: Int { isCopying ? super.count : members.count }
    override func object(at idx: Int) -> Any { members[idx] }
    override func index(of object: Any) -> Int {
        guard let object = object as? NSManagedObject else { return NSNotFound }
        return members.firstIndex { $0 === object } ?? NSNotFound
    }
    override func contains(_ object: Any) -> Bool {
        if isCopying { return super.contains(object) }
        guard let object = object as? NSManagedObject else { return false }
        return loaded.contains(object)
    }
    override func objects(at indexes: IndexSet) -> [Any] { indexes.map { members[$0] } }
    override func copy(with zone: NSZone? = nil) -> Any { detached }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }
    override func isEqual(to other: NSOrderedSet) -> Bool { detached.isEqual(to: other) }
    override func isEqual(_ value: Any?) -> Bool { detached.isEqual(value) }
    override var hash: Int { detached.hash }

    // MARK: Adding and removing

    override func insert(_ object: Any, at idx: Int) {
        guard let added = object as? NSManagedObject else { refuse(object) }
        let position = Swift.min(Swift.max(0, idx), members.count)
        // A member stays where it is, in Foundation's storage, too.
        change(
            { self.object.addToMany(relationship, added, at: position) },
            inCopy: { super.insert(added, at: position) })
    }

    override func add(_ object: Any) {
        guard let added = object as? NSManagedObject else { refuse(object) }
        change({ self.object.addToMany(relationship, added) }, inCopy: { super.add(added) })
    }

    override func addObjects(from array: [Any]) { addAll(array) }

    /// Adds several objects as one change for observers.
    private func addAll(_ objects: [Any]) {
        let added = managed(objects)
        write { object.addToMany(relationship, all: added) }
    }

    /// Removes several members as one change for observers.
    private func removeAll(where isRemoved: (NSManagedObject) -> Bool) {
        let removed = members.filter(isRemoved)
        write { object.removeFromToMany(relationship, all: removed) }
    }

    override func removeObject(at idx: Int) {
        let removed = members[idx]
        change({ object.removeFromToMany(relationship, removed) }, inCopy: { super.removeObject(at: idx) })
    }

    override func remove(_ val: Any) {
        guard let removed = val as? NSManagedObject, loaded.contains(removed),
            let place = members.firstIndex(where: { $0 === removed })
        else { return }
        removeObject(at: place)
    }

    override func removeObjects(at indexes: IndexSet) {
        let present = members
        let removed = indexes.map { present[$0] }
        write { object.removeFromToMany(relationship, all: removed) }
    }

    override func removeAllObjects() { removeAll { _ in true } }

    override func replaceObject(at idx: Int, with obj: Any) {
        let copy = NSMutableOrderedSet(array: members)
        copy.replaceObject(at: idx, with: obj)
        write(copy.array)
    }

    /// Replaces all at once: one after the other, a member that trades places with another would be there twice
    /// between the two steps, and be lost.
    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        guard indexes.count == objects.count else {
            programmerError(
                "“\(object.layout.name).\(relationship.name)”: \(objects.count) objects for \(indexes.count) positions")
        }
        var wanted: [Any] = members
        for (place, object) in zip(indexes, objects) { wanted[place] = object }
        write(wanted)
    }

    override func setObject(_ obj: Any, at idx: Int) {
        idx == count ? add(obj) : replaceObject(at: idx, with: obj)
    }

    // MARK: Other orders, and sets

    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
        change(
            { object.exchangeInToMany(relationship, idx1, idx2) },
            inCopy: { super.exchangeObject(at: idx1, withObjectAt: idx2) })
    }

    override func moveObjects(at indexes: IndexSet, to idx: Int) {
        let former = members
        let moved = indexes.map { former[$0] }
        var order = former
        for index in indexes.reversed() { order.remove(at: index) }
        let target = Swift.min(idx, order.count)
        order.insert(contentsOf: moved, at: target)
        change({ object.reorderToMany(relationship, order) }) {
            for index in indexes.reversed() { super.removeObject(at: index) }
            for member in moved.reversed() { super.insert(member, at: target) }
        }
    }

    override func intersect(_ other: NSOrderedSet) { removeAll { !other.contains($0) } }
    override func minus(_ other: NSOrderedSet) { removeAll { other.contains($0) } }
    override func union(_ other: NSOrderedSet) { addAll(other.array) }
    override func intersectSet(_ other: Set<AnyHashable>) { removeAll { !other.contains($0) } }
    override func minusSet(_ other: Set<AnyHashable>) { removeAll { other.contains($0) } }
    override func unionSet(_ other: Set<AnyHashable>) { addAll(other.map(\.base)) }

    override func sortRange(
        _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
    ) {
        let copy = NSMutableOrderedSet(array: members)
        copy.sortRange(range, options: opts, usingComparator: cmptr)
        write(copy.array)
    }

    override func sort(using sortDescriptors: [NSSortDescriptor]) {
        write(NSManagedObjectContext.sorted(members, by: sortDescriptors))
    }

    /// The values as objects. Leaving out what is none would take members off the relationship without a word.
    private func managed(_ values: [Any]) -> [NSManagedObject] {
        values.map { value in
            guard let value = value as? NSManagedObject else { refuse(value) }
            return value
        }
    }

    private func refuse(_ value: Any) -> Never {
        programmerError(
            "“\(object.layout.name).\(relationship.name)” holds \(relationship.destination.name) objects, not a "
                + "\(type(of: value))")
    }
}
