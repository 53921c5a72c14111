import Foundation

/// The destinations of one to-many relationship of one object: the stored ones, and those added and removed since.
///
/// Changes can be made without loading the stored destinations. Confined to the queue of the object's context.
@usableFromInline
final class ToManyMembers {
    let isOrdered: Bool
    /// Whether `all` is all destinations, rather than only the added ones.
    private(set) var isLoaded: Bool
    /// The destinations in order. Those of an unordered relationship are here until one is added or removed.
    private var list: [NSManagedObject] = []
    // The destinations by identity, made when a member is looked up: most relationships are only read.
    private var index: IdentitySet?
    /// The destinations that were added to and removed from the stored ones.
    private(set) var added: IdentitySet = []
    private(set) var removed: IdentitySet = []
    /// Members that were removed and added again before the stored ones were known: in an ordered relationship they
    /// are at the end.
    private var returned: IdentitySet = []
    /// Whether objects were removed and added again, or added and removed again, before the stored members were known:
    /// these may be the members once more.
    private(set) var isUncertain = false
    /// Whether the order may differ from the stored one, apart from additions at the end.
    private(set) var isReordered = false
    /// How often the members or their order have changed, for code that keeps a copy.
    private(set) var version = 0
    /// The latest of these changes, each of which was one step; nil while nobody follows them.
    private var steps: [MemberStep]?
    /// The stored order, kept from before the first change of it; it shows which members have returned to their places.
    private(set) var storedOrder: [NSManagedObject]?
    /// An order that was chosen here, for stored members that are to be read again.
    private(set) var chosenOrder: [NSManagedObject]?
    // The value returned to readers of the relationship, kept until it changes, so that a loop need not make it each
    // time.
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

    /// Keeps the stored order before a change other than an addition at the end.
    private func keepOrder() {
        if isLoaded, storedOrder == nil, !isReordered, added.isEmpty, removed.isEmpty { storedOrder = list }
    }

    /// All destinations, in order if the relationship is ordered.
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

    /// The members in the form of key-value coding: an `NSOrderedSet` or an `NSSet`.
    var value: NSObject {
        if let givenValue { return givenValue }
        let all = all
        let value = isOrdered ? RelationshipOrderedSet(all) : NSSet(objects: all.references, count: all.count)
        givenValue = value
        return value
    }

    /// The set of the members' class that `keep` was last called with.
    @usableFromInline
    func keptSet<Member>(of member: Member.Type) -> Set<Member>? { givenSet as? Set<Member> }

    /// Keeps a set of the members until they change.
    @usableFromInline
    func keep<Member>(_ set: Set<Member>) { givenSet = set }

    /// Prepares for a change of the members.
    private func willChange(_ step: MemberStep) {
        _ = members
        if !isOrdered, !list.isEmpty { list = [] }
        forgetGiven(step)
    }

    private func forgetGiven(_ step: MemberStep? = nil) {
        note(step)
        if givenValue != nil { givenValue = nil }
        if givenSet != nil { givenSet = nil }
    }

    /// Takes the stored destinations; earlier additions and removals stay.
    ///
    /// - Parameters:
    ///   - stored: the destinations.
    ///   - areDistinct: whether there are no duplicates. Otherwise the first occurrence counts.
    func load(_ stored: [NSManagedObject], areDistinct: Bool = false) {
        isLoaded = true
        isUncertain = false
        storedOrder = nil
        forgetGiven()
        defer { takeChosenOrder(stored) }
        if areDistinct, added.isEmpty, removed.isEmpty {
            list = stored
            index = nil
            return
        }
        let pending = isOrdered ? list : Array(added)
        var seen = IdentitySet(minimumCapacity: stored.count + pending.count)
        list = stored.filter { !removed.contains($0) && !returned.contains($0) && seen.insert($0) }
        // A removal is dropped if the store no longer has, or never had, the member.
        if !removed.isEmpty { removed.formIntersection(IdentitySet(stored)) }
        let new = pending.filter { seen.insert($0) }
        list += new
        added = IdentitySet(new)
        index = seen
        // Undo returns the removed ones to their places.
        if isOrdered, !removed.isEmpty || !returned.isEmpty { keepOrder(of: stored) }
        if !returned.isEmpty {
            returned.formIntersection(IdentitySet(stored))
            added.subtract(returned)
            returned = []
        }
    }

    /// Puts the members into the order that was chosen here. Stored members that were unknown then come last.
    private func takeChosenOrder(_ stored: [NSManagedObject]) {
        guard let order = chosenOrder else { return }
        chosenOrder = nil
        let known = IdentitySet(order)
        list = order.filter(members.contains) + list.filter { !known.contains($0) }
        keepOrder(of: stored)
    }

    /// Keeps the stored order, in which a damaged store may have a member twice.
    private func keepOrder(of stored: [NSManagedObject]) {
        var seen = IdentitySet(minimumCapacity: stored.count)
        storedOrder = stored.filter { seen.insert($0) }
    }

    /// These members with the stored ones unloaded, and additions, removals and an order that was chosen here kept.
    var rereading: ToManyMembers {
        guard isLoaded else { return self }
        let other = ToManyMembers(isOrdered: isOrdered, isLoaded: false)
        if isReordered { (other.isReordered, other.chosenOrder) = (true, list) }
        if isOrdered { other.list = list.filter(added.contains) }
        other.index = added
        other.added = added
        other.removed = removed
        other.isUncertain = isUncertain
        return other
    }

    /// Forgets members that were deleted elsewhere.
    func forget(_ gone: IdentitySet) {
        _ = members
        forgetGiven()
        list.removeAll(where: gone.contains)
        storedOrder?.removeAll(where: gone.contains)
        index?.subtract(gone)
        added.subtract(gone)
        removed.subtract(gone)
        returned.subtract(gone)
    }

    func contains(_ object: NSManagedObject) -> Bool { members.contains(object) }

    /// Whether an object was removed and added again before the stored members were known.
    func isReturned(_ object: NSManagedObject) -> Bool { returned.contains(object) }

    /// - Returns: whether the object was not a member before.
    @discardableResult
    func insert(_ object: NSManagedObject, at position: Int? = nil) -> Bool {
        guard !members.contains(object) else { return false }
        if let position, position < list.count { keepOrder() }
        willChange(.added(object))
        index?.insert(object)
        let wasRemoved = removed.remove(object)
        if !wasRemoved || !isLoaded {
            // Before the stored members are known, the object may have been removed without being one.
            added.insert(object)
        }
        if wasRemoved, isOrdered {
            isReordered = true
            if !isLoaded { returned.insert(object) }
        }
        if wasRemoved, !isLoaded { isUncertain = true }
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

    /// - Returns: whether the object was a member, as far as that is known without loading.
    @discardableResult
    func remove(_ object: NSManagedObject) -> Bool {
        let wasMember = members.contains(object)
        guard wasMember || !isLoaded else { return false }
        if isOrdered { keepOrder() }
        if wasMember {
            willChange(.removed(object))
            index?.remove(object)
        }
        let wasAdded = added.remove(object)
        // Before the stored members are known, the object may have been added though it was one, unless it is new.
        if !wasAdded || !isLoaded && !object.state.contains(.inserted) { removed.insert(object) }
        if wasAdded, !isLoaded { isUncertain = true }
        if isOrdered { returned.remove(object) }
        if isOrdered, let place = list.firstIndex(where: { $0 === object }) { list.remove(at: place) }
        return true
    }

    /// Changes the order of the members; the argument must contain the same objects.
    func reorder(_ order: [NSManagedObject]) {
        guard isOrdered, !zip(order, list).allSatisfy({ $0 === $1 }) || order.count != list.count else { return }
        forgetGiven()
        keepOrder()
        list = order
        isReordered = true
    }

    /// Exchanges two members.
    func exchange(_ first: Int, _ second: Int) {
        guard isOrdered, first != second else { return }
        forgetGiven()
        keepOrder()
        list.swapAt(first, second)
        isReordered = true
    }

    /// Replaces the members, recording the differences. The members must be loaded.
    ///
    /// - Parameters:
    ///   - wanted: the new members, in order.
    ///   - isReordered: whether the order may differ from the stored one even if that cannot be seen here.
    func replaceAll(by wanted: [NSManagedObject], isReordered: Bool) {
        let stored = committed
        let members = IdentitySet(wanted)
        let isReordered = isReordered || isOrdered && !keepsStoredOrder(wanted, stored)
        forgetGiven()
        index = members
        list = isOrdered ? wanted : []
        added = members.subtracting(stored)
        removed = stored.subtracting(members)
        self.isReordered = isReordered
    }

    /// Whether members are in the stored order, and those that the store does not have behind them. The stored order is
    /// kept if it is known.
    private func keepsStoredOrder(_ wanted: [NSManagedObject], _ stored: IdentitySet) -> Bool {
        guard let order = storedOrder ?? (self.isReordered ? nil : list.filter { !added.contains($0) }) else {
            return wanted.allSatisfy { !stored.contains($0) }
        }
        if order.count == stored.count { storedOrder = order }
        let kept = wanted.prefix { stored.contains($0) }
        let members = IdentitySet(wanted)
        return kept.elementsEqual(order.filter(members.contains), by: ===)
            && !wanted.dropFirst(kept.count).contains(where: stored.contains)
    }

    /// The stored destinations.
    var committed: IdentitySet { members.subtracting(added).union(removed) }

    /// Counts a change; one that is not a step ends what others follow.
    private func note(_ step: MemberStep?) {
        version += 1
        guard let count = steps?.count else { return }
        // Who lags behind by many steps makes the copy anew.
        guard let step, count < 64 + (index?.count ?? list.count) / 4 else { return steps = nil }
        steps?.append(step)
    }

    /// Notes the steps from now on.
    func follow() { steps = [] }

    /// The changes since a version; nil if they are not known.
    func steps(since former: Int) -> ArraySlice<MemberStep>? {
        guard let steps, version - former <= steps.count else { return nil }
        return steps.suffix(version - former)
    }

    /// The stored destinations in the form of key-value coding. If the indexes of removed members were not kept, they
    /// come last.
    var committedValue: NSObject {
        guard isOrdered else { return NSSet(array: Array(committed)) }
        return NSOrderedSet(array: storedOrder ?? all.filter { !added.contains($0) } + removed)
    }

    /// Counts all members as added: the object has no row any more, and gets a new one.
    func becomeNew() {
        note(nil)
        added = members
        removed = []
        returned = []
        storedOrder = nil
        chosenOrder = nil
        isLoaded = true
    }

    /// Notes that additions and removals have been saved.
    func didSave() {
        // The keys of new members are other ones now, and so may be their order.
        if !added.isEmpty { note(.saved) }
        added = []
        removed = []
        returned = []
        isUncertain = false
        isReordered = false
        storedOrder = nil
        chosenOrder = nil
    }
}

/// The state of the other end of a relationship in an object.
enum RelationState {
    /// Not resolved yet: the slot has the ID of a to-one destination, the store has those of a to-many relationship.
    case unresolved
    case toOne(NSManagedObject?)
    case toMany(ToManyMembers)
    /// The result of a fetched property. Fetched properties come after the relationships.
    case fetched([Any])
}

/// What an object's properties were at some time.
struct FormerValues {
    let values: ContiguousArray<StoredValue>
    /// The changes of to-many relationships that had any, by the relationships' indexes.
    let members: [Int: MemberChanges]

    init(of object: NSManagedObject) {
        values = object.values
        guard !object.relations.isEmpty else {
            members = [:]
            return
        }
        var members: [Int: MemberChanges] = [:]
        for relationship in object.layout.toManys {
            members[relationship.index] = object.toManyMembersIfAny(relationship)?.changes
        }
        self.members = members
    }
}

/// The members of a to-many relationship at some time, as changes of the stored ones.
struct MemberChanges {
    var added: IdentitySet = []
    var removed: IdentitySet = []
    /// The members in order, if the relationship is ordered and was loaded.
    var order: [NSManagedObject]?
}

extension ToManyMembers {
    /// The present changes; `nil` if there are none.
    var changes: MemberChanges? {
        hasChanges ? MemberChanges(added: added, removed: removed, order: isOrdered && isLoaded ? all : nil) : nil
    }

    /// The members at a former time, in the form of key-value coding.
    ///
    /// - Parameter former: the changes that there were at that time.
    /// - Returns: the members; `nil` if they are the present ones, in the present order.
    func formerValue(_ former: MemberChanges) -> NSObject? {
        let set = committed.subtracting(former.removed).union(former.added)
        guard isOrdered else { return set == members ? nil : NSSet(array: Array(set)) }
        let order = former.order ?? all.filter(set.contains) + set.subtracting(members)
        return order.elementsEqual(all, by: ===) ? nil : NSOrderedSet(array: order)
    }
}
