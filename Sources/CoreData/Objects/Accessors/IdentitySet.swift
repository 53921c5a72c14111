/// A set of objects by identity.
///
/// A `Set<NSManagedObject>` asks each object for its hash and equality through Foundation's class, which takes about
/// four times as long.
struct IdentitySet: Sequence, Equatable, ExpressibleByArrayLiteral {
    private var members: Set<Member>

    private struct Member: Hashable {
        let object: NSManagedObject

        static func == (one: Member, other: Member) -> Bool { one.object === other.object }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
    }

    init(_ objects: some Sequence<NSManagedObject>) {
        members = Set(minimumCapacity: objects.underestimatedCount)
        for object in objects { members.insert(Member(object: object)) }
    }

    init(minimumCapacity: Int) { members = Set(minimumCapacity: minimumCapacity) }

    init(arrayLiteral elements: NSManagedObject...) { self.init(elements) }

    private init(_ members: Set<Member>) { self.members = members }

    var count: Int { members.count }
    var isEmpty: Bool { members.isEmpty }
    var underestimatedCount: Int { members.count }

    func makeIterator() -> some IteratorProtocol<NSManagedObject> { members.lazy.map(\.object).makeIterator() }

    func contains(_ object: NSManagedObject) -> Bool { members.contains(Member(object: object)) }

    /// - Returns: whether the object was not a member before.
    @discardableResult
    mutating func insert(_ object: NSManagedObject) -> Bool { members.insert(Member(object: object)).inserted }

    /// - Returns: whether the object was a member.
    @discardableResult
    mutating func remove(_ object: NSManagedObject) -> Bool { members.remove(Member(object: object)) != nil }

    mutating func formIntersection(_ other: IdentitySet) { members.formIntersection(other.members) }
    mutating func subtract(_ other: IdentitySet) { members.subtract(other.members) }
    func subtracting(_ other: IdentitySet) -> IdentitySet { IdentitySet(members.subtracting(other.members)) }
    func union(_ other: IdentitySet) -> IdentitySet { IdentitySet(members.union(other.members)) }
}
