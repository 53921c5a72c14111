import Foundation

/// The destinations of one to-many relationship of one object: those the store has, and what was added and removed
/// since.
///
/// Changes can be made without loading what the store has. Confined to the queue of the object's context.
@usableFromInline
final class ToManyMembers {
    let isOrdered: Bool
    /// Whether `all` is all destinations, not only what was added.
    private(set) var isLoaded: Bool
    /// The destinations in order. Those of a relationship without an order are here until one is added or removed.
    private var list: [NSManagedObject] = []
    // The destinations by identity, made when a member is looked for: most relationships are only read.
    private var index: IdentitySet?
    /// What was added to and removed from what the store has.
    private(set) var added: IdentitySet = []
    private(set) var removed: IdentitySet = []
    /// Whether the order may differ from the store's, apart from what was added at the end.
    private(set) var isReordered = false
    /// How often the members or their order changed, for those who keep a copy.
    private(set) var version = 0
    /// The order before it was changed first, where it was the store's; to tell what came back to its place from what is elsewhere.
    private var storedOrder: [NSManagedObject]?
    // What was given to those who read the relationship, until it changes: a loop that reads it each time would make it each time.
    private var givenValue: NSObject?
    private var givenSet: Any?

    init(isOrdered: Bool, isLoaded: Bool) {
        self.isOrdered = isOrdered
        self.isLoaded = isLoaded
    }

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered && !isInStoredOrder }

    private var isInStoredOrder: Bool {
        guard let storedOrder, storedOrder.count == list.count else { return false }
        return zip(storedOrder, list).allSatisfy { $0 === $1 }
    }

    /// Keeps the order before it changes otherwise than at its end.
    private func keepOrder() {
        if isLoaded, storedOrder == nil, !isReordered, added.isEmpty, removed.isEmpty { storedOrder = list }
    }

    /// All destinations; in order where there is one.
    @usableFromInline var all: [NSManagedObject] {
        guard !isOrdered, list.isEmpty, let index else { return list }
        return Array(index)
    }

    /// The destinations by identity.
    var members: IdentitySet {
        if let index { return index }
        let made = IdentitySet(list)
        index = made
        return made
    }

    /// The members as key-value coding gives them: an `NSOrderedSet` or an `NSSet`.
    var value: NSObject {
        if let givenValue { return givenValue }
        let value: NSObject = all.withUnsafeBufferPointer { objects in
            // A list of objects is a list of references, whatever their class. Foundation would look at each for what it is.
            objects.withMemoryRebound(to: AnyObject.self) { references in
                isOrdered
                    ? NSOrderedSet(objects: references.baseAddress, count: references.count)
                    : NSSet(objects: references.baseAddress, count: references.count)
            }
        }
        givenValue = value
        return value
    }

    /// The members as a set of their class, as `keep` was given it last.
    @usableFromInline
    func keptSet<Member>(of member: Member.Type) -> Set<Member>? { givenSet as? Set<Member> }

    /// Keeps a set of the members until they change.
    @usableFromInline
    func keep<Member>(_ set: Set<Member>) { givenSet = set }

    /// Gets ready for a change of the members.
    private func willChange() {
        _ = members
        if !isOrdered, !list.isEmpty { list = [] }
        forgetGiven()
    }

    private func forgetGiven() {
        version += 1
        if givenValue != nil { givenValue = nil }
        if givenSet != nil { givenSet = nil }
    }

    /// Takes what the store has; what was added and removed before stays so.
    ///
    /// - Parameters:
    ///   - stored: the destinations.
    ///   - areDistinct: whether none is there twice. Otherwise the first one counts.
    func load(_ stored: [NSManagedObject], areDistinct: Bool = false) {
        isLoaded = true
        storedOrder = nil
        forgetGiven()
        if areDistinct, added.isEmpty, removed.isEmpty {
            list = stored
            index = nil
            return
        }
        let pending = isOrdered ? list : Array(added)
        var seen = IdentitySet(minimumCapacity: stored.count + pending.count)
        list = stored.filter { !removed.contains($0) && seen.insert($0) }
        // A removal does not count when the store confirms it, or never had the member.
        if !removed.isEmpty { removed.formIntersection(IdentitySet(stored)) }
        let new = pending.filter { seen.insert($0) }
        list += new
        added = IdentitySet(new)
        index = seen
    }

    /// These members, with what the store has yet to be read; what was added and removed stays so. An order that was made here
    /// stays, with the members that it is one of.
    var rereading: ToManyMembers {
        guard isLoaded, !isReordered else { return self }
        let other = ToManyMembers(isOrdered: isOrdered, isLoaded: false)
        if isOrdered { other.list = list.filter(added.contains) }
        other.index = added
        other.added = added
        other.removed = removed
        return other
    }

    /// Forgets members that are no more.
    func forget(_ gone: IdentitySet) {
        _ = members
        forgetGiven()
        list.removeAll(where: gone.contains)
        storedOrder?.removeAll(where: gone.contains)
        index?.subtract(gone)
        added.subtract(gone)
        removed.subtract(gone)
    }

    func contains(_ object: NSManagedObject) -> Bool { members.contains(object) }

    /// - Returns: whether the object was not a member before.
    @discardableResult
    func insert(_ object: NSManagedObject, at position: Int? = nil) -> Bool {
        guard !members.contains(object) else { return false }
        if let position, position < list.count { keepOrder() }
        willChange()
        index?.insert(object)
        if !removed.remove(object) { added.insert(object) } else if isOrdered { isReordered = true }
        if isOrdered {
            if let position, position < list.count {
                list.insert(object, at: max(0, position))
                isReordered = true
            } else {
                list.append(object)
            }
        }
        return true
    }

    /// - Returns: whether the object was a member, as far as is known without loading.
    @discardableResult
    func remove(_ object: NSManagedObject) -> Bool {
        let wasMember = members.contains(object)
        guard wasMember || !isLoaded else { return false }
        if isOrdered { keepOrder() }
        if wasMember {
            willChange()
            index?.remove(object)
        }
        if !added.remove(object) { removed.insert(object) }
        if isOrdered, let place = list.firstIndex(where: { $0 === object }) { list.remove(at: place) }
        return true
    }

    /// Puts the members in another order; the argument must hold the same objects.
    func reorder(_ order: [NSManagedObject]) {
        guard isOrdered, !zip(order, list).allSatisfy({ $0 === $1 }) || order.count != list.count else { return }
        forgetGiven()
        keepOrder()
        list = order
        isReordered = true
    }

    /// Puts two members in each other's place.
    func exchange(_ first: Int, _ second: Int) {
        guard isOrdered, first != second else { return }
        forgetGiven()
        keepOrder()
        list.swapAt(first, second)
        isReordered = true
    }

    /// Has these members, and changes accordingly. The members must be loaded.
    func replaceAll(by wanted: [NSManagedObject], isReordered: Bool) {
        let stored = committed
        let members = IdentitySet(wanted)
        forgetGiven()
        index = members
        list = isOrdered ? wanted : []
        added = members.subtracting(stored)
        removed = stored.subtracting(members)
        self.isReordered = isReordered
    }

    /// The destinations that the store has.
    var committed: IdentitySet { members.subtracting(added).union(removed) }

    /// What was added and removed is in the store now.
    func didSave() {
        added = []
        removed = []
        isReordered = false
        storedOrder = nil
    }
}

/// What an object knows of the other end of one of its relationships.
enum RelationState {
    /// Nothing yet: the slot has the ID of a to-one destination, the store those of to-many ones.
    case unresolved
    case toOne(NSManagedObject?)
    case toMany(ToManyMembers)
    /// What a fetched property found. The fetched properties come after the relationships.
    case fetched([Any])
}
