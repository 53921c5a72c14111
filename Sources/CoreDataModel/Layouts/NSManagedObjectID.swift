import Foundation
import PredicateFormat
import Synchronization

/// The identity of a store, which outlives the store object: IDs refer to it.
package final class StoreIdentity: @unchecked Sendable {
    // @unchecked Sendable: `uuid`, `store` and `observer` are set while the store is being opened, before IDs are made,
    // or under its coordinator's lock when another store replaces it.

    /// The store's UUID, as in its metadata and in object URIs.
    package var uuid: String

    /// The store (an `NSPersistentStore`, which a higher room defines).
    package weak var store: AnyObject?

    /// Called when a context registers an object of the store and when it forgets the object, for stores that request
    /// it.
    package var observer: (@Sendable (NSManagedObjectID, _ isKnown: Bool) -> Void)?

    /// Distinguishes the stores of this process.
    package let number: Int

    private static let count = Atomic<Int>(0)

    package init(uuid: String) {
        self.uuid = uuid
        number = Self.count.add(1, ordering: .relaxed).newValue
    }

    /// Whether an ID belongs to this store. Another coordinator may have opened the same file, with an identity of its
    /// own.
    package func holds(_ identifier: NSManagedObjectID) -> Bool {
        guard let other = identifier.storeIdentity else { return false }
        return other === self || other.uuid == uuid
    }
}

/// The identity of a managed object: its entity, and its key in its store. It can be used from any thread.
///
/// An object's ID is temporary until the object is first saved.
open class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: all properties are immutable.

    package let layout: EntityLayout
    /// The store; `nil` for a temporary ID.
    package let storeIdentity: StoreIdentity?
    /// The primary key (`Z_PK`), or the number of a temporary ID.
    package let key: Int64
    /// A developer's atomic or incremental store's reference for the object.
    package let reference: NSObject?

    /// The store and the table as a number, which together with the key identifies the object; 0 for a temporary ID. It
    /// is computed here, since code in another target would retain both.
    package final var tableTag: UInt64 {
        guard let storeIdentity else { return 0 }
        return UInt64(storeIdentity.number) << 24 | UInt64(layout.rootNumber)
    }

    package init(layout: EntityLayout, store: StoreIdentity, key: Int64, reference: NSObject? = nil) {
        self.layout = layout
        storeIdentity = store
        self.key = key
        self.reference = reference
    }

    package init(temporaryFor layout: EntityLayout, number: Int64) {
        self.layout = layout
        storeIdentity = nil
        key = number
        reference = nil
    }

    /// Creates an ID without an object, as a stand-in in tests: it is temporary, equals no other ID, and no context
    /// finds an object for it.
    public override init() {
        layout = NoObject.entity
        storeIdentity = nil
        key = NoObject.count.subtract(1, ordering: .relaxed).newValue
        reference = nil
    }

    /// The entity of an ID without an object.
    private enum NoObject {
        static let count = Atomic<Int64>(0)
        static let entity: EntityLayout = {
            let description = NSEntityDescription()
            description.name = "NSManagedObject"
            let model = NSManagedObjectModel()
            model.entities = [description]
            guard let layout = try? model.compiledLayout().entityByName["NSManagedObject"] else {
                programmerError("a model of one entity without properties is not accepted")
            }
            return layout
        }()
    }

    /// The entity of the object.
    open var entity: NSEntityDescription { layout.description }

    /// Whether the ID is only valid until the object is first saved.
    open var isTemporaryID: Bool { storeIdentity == nil }

    /// The ID as a URI that can be archived: `x-coredata://<store UUID>/<entity>/p<primary key>`.
    ///
    /// The URI of a temporary ID (`x-coredata:///<entity>/t…`) is only valid in this process.
    open func uriRepresentation() -> URL {
        let entity = layout.uriName
        let text: String
        if let storeIdentity {
            let name = uriKey.addingPercentEncoding(withAllowedCharacters: Self.allowedInKey) ?? uriKey
            text = "x-coredata://\(storeIdentity.uuid)/\(entity)/p\(name)"
        } else {
            text = "x-coredata:///\(entity)/t\(Self.processPrefix)\(key)"
        }
        return URL(string: text) ?? URL(fileURLWithPath: text)
    }

    /// The text of the URI. Making a URL takes ten times as long.
    package final var uriText: String {
        guard let storeIdentity, reference == nil, storeIdentity.uuid.utf8.allSatisfy(Self.isPlain) else {
            return uriRepresentation().absoluteString
        }
        var text = "x-coredata://"
        text.reserveCapacity(64 + layout.uriName.utf8.count)
        text += storeIdentity.uuid
        text += "/"
        text += layout.uriName
        text += "/p"
        text += String(key)
        return text
    }

    /// Whether a character of a store's identifier stays as it is in a URL.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
    }

    /// The object's name in the URI.
    package final var uriKey: String { reference.map { "\($0)" } ?? "\(key)" }

    private static let allowedInKey = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))

    /// Makes temporary URIs of different processes different.
    private static let processPrefix = UUID().uuidString

    /// IDs are immutable: the copy is the ID itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether two IDs identify the same object of the same store.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an ID of the same object.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        return matches(other)
    }

    package final func matches(_ other: NSManagedObjectID) -> Bool {
        if self === other { return true }
        guard key == other.key else { return false }
        // The key of a long reference is a digest, which other references may share.
        if reference != nil || other.reference != nil, uriKey != other.uriKey { return false }
        if storeIdentity === other.storeIdentity { return layout.root === other.layout.root }
        guard let storeIdentity, storeIdentity.holds(other) else { return false }
        return layout.root.name == other.layout.root.name
    }

    /// A hash of the key and the root entity.
    open override var hash: Int { Int(truncatingIfNeeded: key) &* 31 &+ layout.rootHash }

    /// The URI.
    open override var description: String { uriRepresentation().absoluteString }
}

extension NSManagedObjectID {
    /// The greatest key of a store that numbers its rows, so that later keys never overflow. Stores count from 1; only
    /// a damaged one gets near it.
    package static let greatestKey: Int64 = 1 << 62
}

// An ID may be an argument of a format string, and what a predicate compares, in programs without managed objects, too.
extension NSManagedObjectID: FormatArgument {}

extension NSManagedObjectID: KeyedOperand {
    package final func operand(forKey key: String) -> Value {
        if key == "self" || key == "objectID" { return .object(self) }
        programmerError(noValues(key))
    }

    package func obstacle(toKey key: String) -> String? {
        key == "self" || key == "objectID" ? nil : noValues(key)
    }

    /// Objects that were never saved come last, in the order in which they were inserted.
    package final var orderKey: Int64? { isTemporaryID ? Self.greatestKey &+ key : key }

    private func noValues(_ key: String) -> String {
        "a predicate reads “\(key)” of the ID \(description); an ID has no values. Use the object instead."
    }
}

/// The identity of an object: the content of its ID, without making the ID.
///
/// Layout and store are not retained: an identity is passed from a store that retains both to a context, which keeps
/// them alive for its objects.
package struct ObjectIdentity {
    package let layout: Unmanaged<EntityLayout>
    /// `nil` for an object that was never saved.
    package let store: Unmanaged<StoreIdentity>?
    /// The primary key (`Z_PK`), or the number of a temporary ID.
    package let key: Int64
    /// The ID, if it exists already: the reference of a developer's store is not part of the other properties.
    package let identifier: NSManagedObjectID?

    @inlinable
    package init(layout: Unmanaged<EntityLayout>, store: Unmanaged<StoreIdentity>?, key: Int64) {
        self.layout = layout
        self.store = store
        self.key = key
        identifier = nil
    }

    package init(_ identifier: NSManagedObjectID) {
        layout = .passUnretained(identifier.layout)
        store = identifier.storeIdentity.map { .passUnretained($0) }
        key = identifier.key
        self.identifier = identifier
    }

    /// The ID, made if it does not exist yet.
    package var objectID: NSManagedObjectID {
        if let identifier { return identifier }
        let layout = layout.takeUnretainedValue()
        guard let store = store?.takeUnretainedValue() else {
            return NSManagedObjectID(temporaryFor: layout, number: key)
        }
        return NSManagedObjectID(layout: layout, store: store, key: key)
    }

    /// See `NSManagedObjectID.tableTag`.
    package var tag: UInt64 { Self.tag(layout, store) }

    @inline(__always)
    package static func tag(_ layout: Unmanaged<EntityLayout>, _ store: Unmanaged<StoreIdentity>?) -> UInt64 {
        guard let store else { return 0 }
        return store._withUnsafeGuaranteedRef { UInt64($0.number) } << 24
            | layout._withUnsafeGuaranteedRef { UInt64($0.rootNumber) }
    }
}
