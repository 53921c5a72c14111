import Ordering

/// A key of an object on which the value of a registration depends.
final class ObservingWatch: @unchecked Sendable {
    // @unchecked Sendable: immutable; the object is used on its queue.

    let registration: ObservingRegistration
    let info: ObservationInfo
    /// The object, retained while it is on the path; `nil` for the observed one, which is not retained.
    private let passed: NSManagedObject?
    let key: String
    /// Whether the key is the last of the path, so that its changes are those of the value.
    let isEnd: Bool
    /// Whether the path continues from the value of the key.
    let leadsOn: Bool

    init(
        _ registration: ObservingRegistration, _ object: NSManagedObject, key: String, isEnd: Bool, leadsOn: Bool
    ) {
        self.registration = registration
        info = ObservationInfo.made(for: object)
        passed = object === registration.root ? nil : object
        self.key = key
        self.isEnd = isEnd
        self.leadsOn = leadsOn
    }
}

/// Finds the objects on a path, and the keys on which its keys depend.
struct ObservingWalk {
    private struct Step: Hashable {
        let object: ObjectIdentifier
        let keys: ArraySlice<String>
    }

    let registration: ObservingRegistration
    let root: NSManagedObject
    private(set) var watches: [ObservingWatch] = []
    private var seen: Set<Step> = []

    init(registration: ObservingRegistration, root: NSManagedObject) {
        self.registration = registration
        self.root = root
    }

    mutating func follow(_ keys: [String], from object: NSManagedObject, isOwnPath: Bool) {
        follow(keys[...], from: object, isOwnPath: isOwnPath)
    }

    private mutating func follow(_ keys: ArraySlice<String>, from object: NSManagedObject, isOwnPath: Bool) {
        // Keys may depend on each other.
        guard let first = keys.first, seen.insert(Step(object: ObjectIdentifier(object), keys: keys)).inserted else {
            return
        }
        let rest = keys.dropFirst()
        let key = object.observedKey(first)
        watches.append(
            ObservingWatch(
                registration, object, key: key, isEnd: isOwnPath && rest.isEmpty, leadsOn: !rest.isEmpty))
        for path in type(of: object).keyPathsForValuesAffectingValue(forKey: first).sorted() {
            follow(path.split(separator: ".").map(String.init)[...], from: object, isOwnPath: false)
        }
        guard !rest.isEmpty, let next = object.value(forKey: first) as? NSManagedObject else { return }
        follow(rest, from: next, isOwnPath: isOwnPath)
    }
}
