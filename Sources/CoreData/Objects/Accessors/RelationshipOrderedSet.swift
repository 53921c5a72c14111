import Foundation

/// The members of an ordered relationship, as readers get them.
///
/// Foundation looks for the place of an object by comparing it with one member after the other as `Any`, and boxes each
/// member that it returns. Members are compared here by identity, as managed objects are equal. Methods that cannot be
/// overridden use Foundation's storage, which has the same members.
final class RelationshipOrderedSet: NSOrderedSet {
    private let members: [NSManagedObject]

    /// - Parameter members: the members, all different.
    init(_ members: [NSManagedObject]) {
        self.members = members
        super.init(objects: members.references, count: members.count)
    }

    required init?(coder aDecoder: NSCoder) { nil }

    required init(arrayLiteral elements: Any...) {
        programmerError("a relationship's ordered set is made of its members")
    }

    override var count: Int { members.count }
    override func object(at idx: Int) -> Any { members[idx] }

    override func index(of object: Any) -> Int {
        guard let object = object as? NSManagedObject else { return NSNotFound }
        return members.firstIndex { $0 === object } ?? NSNotFound
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func mutableCopy(with zone: NSZone? = nil) -> Any {
        NSMutableOrderedSet(objects: members.references, count: members.count)
    }
}

extension [NSManagedObject] {
    /// The same array as Foundation's collections take it: an array of objects is one of references, whatever their
    /// class. Foundation would check each element's type otherwise.
    var references: [AnyObject] { unsafeBitCast(self, to: [AnyObject].self) }
}
