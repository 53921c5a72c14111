import CSwiftRuntime
import Synchronization

/// Lets the parts of an entity find it without keeping it alive.
///
/// A weak reference would work too, but an entity that has one counts its references in a side table from then on, and
/// each object of the entity counts four of them. The entity itself owns the link, and clears it in its `deinit`.
final class EntityLink: Sendable {
    private let address = Mutex<ObjectIdentifier?>(nil)

    /// Sets the entity, which calls `leave` when it is released.
    func join(_ entity: NSEntityDescription) {
        let identity = ObjectIdentifier(entity)
        address.withLock { $0 = identity }
    }

    /// Clears the entity when it is released.
    func leave() { address.withLock { $0 = nil } }

    /// The entity; `nil` if it has been released.
    ///
    /// An entity whose `deinit` has begun waits for the lock before its memory is freed, so the address is valid, and
    /// the runtime says whether it can still be retained.
    var entity: NSEntityDescription? {
        address.withLock { address in
            guard let address, let pointer = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: address)),
                let object = swift_tryRetain(pointer)
            else { return nil }
            return Unmanaged<NSEntityDescription>.fromOpaque(object).takeRetainedValue()
        }
    }
}
