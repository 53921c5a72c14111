import Foundation

/// Stand-ins for missing objects, for classes that declare a to-one relationship as not optional.
///
/// With the Objective-C runtime such a property is a reference to nil, which returns nothing from messages and ignores
/// them; `willSave()` of many programs reads the other side of a relationship like this while both objects are being
/// deleted. Here it is a probe (see `KeyPathProbe`) without a recorder, an entity of the model, or a context; there is
/// one for each class.
enum AbsentObjects {
    /// The stand-in for an object of a class.
    static func standIn<Object: NSManagedObject>(for type: Object.Type) -> Object? {
        made.withLock { made in
            if let known = made.objects[ObjectIdentifier(type)] { return known as? Object }
            let object = KeyPathProbe.makeProbe(type)
            object.setContext(nil)
            made.objects[ObjectIdentifier(type)] = object
            return object as? Object
        }
    }

    private static let made = Made()

    private final class Made: @unchecked Sendable {
        // @unchecked Sendable: `objects` is only accessed with the lock held.
        private let lock = NSRecursiveLock()
        var objects: [ObjectIdentifier: NSManagedObject] = [:]

        func withLock<Result>(_ body: (Made) -> Result) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body(self)
        }
    }
}

extension NSManagedObject {
    /// Whether this is a stand-in for a missing object.
    final var isAbsent: Bool { state.contains(.probe) }
}
