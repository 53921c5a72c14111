import Foundation

/// Objects that stand for none, where a class declares a to-one relationship that is not optional.
///
/// With the Objective-C runtime such a property is a reference to nil, which answers messages with nothing and ignores what it is told;
/// `willSave()` of many programs reads the other side of a relationship so while both are being deleted. Here it is a probe (see
/// `KeyPathProbe`) that nobody records: without an entity of the model and a context, the same one each time.
enum AbsentObjects {
    /// The object that stands for none of a class.
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
        // @unchecked Sendable: `objects` is used with the lock held only.
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
    /// Whether this stands for no object.
    final var isAbsent: Bool { state.contains(.probe) }
}
