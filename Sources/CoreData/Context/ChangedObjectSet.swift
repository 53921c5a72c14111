import Foundation

/// A set in a notification's user info, which is made into one only when an observer looks: a save of many objects
/// mostly has none that does.
final class ChangedObjectSet: NSSet {
    private let elements: [NSObject]
    private let lock = NSLock()
    private var hashed: Set<NSObject>?

    /// - Parameter elements: objects or IDs, without duplicates.
    init(_ elements: [NSObject]) {
        self.elements = elements
        super.init(objects: nil, count: 0)
    }

    required init?(coder aDecoder: NSCoder) { nil }

    required override init(objects: UnsafePointer<AnyObject>?, count cnt: Int) {
        elements = (0..<cnt).compactMap { objects?[$0] as? NSObject }
        super.init(objects: nil, count: 0)
    }

    private var members: Set<NSObject> {
        lock.withLock {
            if let hashed { return hashed }
            let made = Set(elements)
            hashed = made
            return made
        }
    }

    override var count: Int { elements.count }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSObject, let index = members.firstIndex(of: object) else { return nil }
        return members[index]
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: elements).objectEnumerator() }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}
