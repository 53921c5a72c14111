import Foundation

/// The destinations of one to-many relationship of one object: those the store has, and what was added and removed
/// since.
///
/// Changes can be made without loading what the store has. Confined to the queue of the object's context.
final class ToManyMembers {
    let isOrdered: Bool
    /// Whether `members` (and `list`) hold all destinations, not only what was added.
    private(set) var isLoaded: Bool
    private(set) var members: Set<NSManagedObject> = [] { didSet { forgetGiven() } }
    /// The destinations in order, for an ordered relationship.
    private(set) var list: [NSManagedObject] = [] { didSet { forgetGiven() } }
    /// What was added to and removed from what the store has.
    private(set) var added: Set<NSManagedObject> = []
    private(set) var removed: Set<NSManagedObject> = []
    /// Whether the order differs from the store's.
    private(set) var isReordered = false
    // What was given to those who read the relationship, until it changes: a loop that reads it each time would make it each time.
    private var givenValue: NSObject?
    private var givenSet: Any?

    init(isOrdered: Bool, isLoaded: Bool) {
        self.isOrdered = isOrdered
        self.isLoaded = isLoaded
    }

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

    /// All destinations; in order where there is one.
    var all: [NSManagedObject] { isOrdered ? list : Array(members) }

    /// The members as key-value coding gives them: an `NSOrderedSet` or an `NSSet`.
    var value: NSObject {
        if let givenValue { return givenValue }
        let value: NSObject = isOrdered ? NSOrderedSet(array: list) : NSSet(array: Array(members))
        givenValue = value
        return value
    }

    /// The members as a set of their class.
    ///
    /// - Parameter cast: what a member is as an object of the class.
    /// - Returns: the members.
    func set<Member: NSManagedObject>(_ cast: (NSManagedObject) -> Member) -> Set<Member> {
        if let known = givenSet as? Set<Member> { return known }
        let set = Set(members.map(cast))
        givenSet = set
        return set
    }

    private func forgetGiven() {
        if givenValue != nil { givenValue = nil }
        if givenSet != nil { givenSet = nil }
    }

    /// Takes what the store has; what was added and removed before stays so.
    func load(_ stored: [NSManagedObject]) {
        let pending = added
        let pendingList = list
        members = Set(minimumCapacity: stored.count + pending.count)
        list = []
        if isOrdered { list.reserveCapacity(stored.count + pending.count) }
        added = []
        for object in stored where !removed.contains(object) {
            if members.insert(object).inserted, isOrdered { list.append(object) }
        }
        // A removal does not count when the store confirms it, or never had the member.
        if !removed.isEmpty { removed.formIntersection(Set(stored)) }
        for object in isOrdered ? pendingList : Array(pending) where members.insert(object).inserted {
            added.insert(object)
            if isOrdered { list.append(object) }
        }
        isLoaded = true
    }

    func contains(_ object: NSManagedObject) -> Bool { members.contains(object) }

    /// - Returns: whether the object was not a member before.
    @discardableResult
    func insert(_ object: NSManagedObject, at index: Int? = nil) -> Bool {
        guard members.insert(object).inserted else { return false }
        if removed.remove(object) == nil { added.insert(object) } else if isOrdered { isReordered = true }
        if isOrdered {
            if let index, index < list.count {
                list.insert(object, at: max(0, index))
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
        let wasMember = members.remove(object) != nil
        guard wasMember || !isLoaded else { return false }
        if added.remove(object) == nil { removed.insert(object) }
        if isOrdered, let index = list.firstIndex(where: { $0 === object }) { list.remove(at: index) }
        return true
    }

    /// Puts the members in another order; the argument must hold the same objects.
    func reorder(_ order: [NSManagedObject]) {
        guard isOrdered, !zip(order, list).allSatisfy({ $0 === $1 }) || order.count != list.count else { return }
        list = order
        isReordered = true
    }

    /// Has these members, and changes accordingly. The members must be loaded.
    func replaceAll(by wanted: [NSManagedObject], isReordered: Bool) {
        let stored = committed
        members = Set(wanted)
        list = isOrdered ? wanted : []
        added = members.subtracting(stored)
        removed = stored.subtracting(members)
        self.isReordered = isReordered
    }

    /// The destinations that the store has.
    var committed: Set<NSManagedObject> { members.subtracting(added).union(removed) }

    /// What was added and removed is in the store now.
    func didSave() {
        added = []
        removed = []
        isReordered = false
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
