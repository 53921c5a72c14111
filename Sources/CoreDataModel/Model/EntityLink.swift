import CSwiftRuntime
import Synchronization

/// How the parts of an entity find it without keeping it alive.
///
/// A weak reference would do the same at a price: an entity that has one counts its references in a side table from then on, and
/// each object that is made of the entity counts them four times. The entity itself owns the link, and clears it in its `deinit`.
final class EntityLink: Sendable {
    private let address = Mutex<ObjectIdentifier?>(nil)

    /// Sets the entity; it calls `leave` when it goes.
    func join(_ entity: NSEntityDescription) {
        let identity = ObjectIdentifier(entity)
        address.withLock { $0 = identity }
    }

    /// The entity goes.
    func leave() { address.withLock { $0 = nil } }

    /// The entity, `nil` when it is gone.
    ///
    /// An entity whose `deinit` has begun waits for the lock before its memory goes, so the address is good, and the runtime says
    /// whether it can still be retained.
    var entity: NSEntityDescription? {
        address.withLock { address in
            guard let address, let pointer = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: address)),
                let object = swift_tryRetain(pointer)
            else { return nil }
            return Unmanaged<NSEntityDescription>.fromOpaque(object).takeRetainedValue()
        }
    }
}
