import Foundation
import StoreSession

/// A state of the stores that contexts can continue to read while others write: see
/// `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A token keeps its generation readable as long as it, a copy of it, or a context pinned to it exists. An archived
/// token is only valid in the process that made it, and while the generation is readable; see `isExpired`.
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable: immutable; the content of the state is only used under the session's lock.

    /// The generation; `nil` for `current`.
    package final let state: PinnedGeneration?

    package init(_ state: PinnedGeneration?) {
        self.state = state
        super.init()
    }

    /// Stands for the generation that is current when a context next reads.
    open class var current: NSQueryGenerationToken { currentToken }

    private static let currentToken = NSQueryGenerationToken(nil)

    /// Whether this is `current`.
    package final var isCurrent: Bool { state == nil }

    /// Whether the generation can no longer be read: its last other token was released after this one was archived.
    package final var isExpired: Bool { state?.isExpired ?? false }

    /// The coordinator's count of saves when the generation was pinned.
    package final var saveCount: UInt32 { state?.saveCount ?? 0 }

    /// The object by which a store reads this generation; `nil` for a store without generations.
    package final func generation(of store: NSPersistentStore) -> AnyObject? {
        state?.object(of: store.sessionStore)
    }

    // MARK: Copying and coding

    /// Tokens are immutable: the copy is the token itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both tokens stand for the same generation.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a token of the same generation.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        guard let state, let others = other.state else { return isCurrent && other.isCurrent }
        return state === others || state.isExpired && others.isExpired && state.identifier == others.identifier
    }

    /// The hash of the generation's identity.
    open override var hash: Int {
        guard let state else { return 0 }
        return state.isExpired ? state.identifier.hashValue : ObjectIdentifier(state).hashValue
    }

    /// `true`: tokens support secure coding.
    open class var supportsSecureCoding: Bool { true }

    private static let identifierKey = "generation"

    /// Archives the identity of the generation.
    ///
    /// - Parameter coder: a keyed coder.
    open func encode(with coder: NSCoder) {
        coder.encode((state?.identifier.uuidString ?? "") as NSString, forKey: Self.identifierKey)
    }

    /// Finds the generation of an archived token among those that can still be read.
    ///
    /// - Parameter coder: a keyed coder.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.identifierKey) else { return nil }
        let identifier = UUID(uuidString: text.description)
        state = identifier.map { PinnedGeneration.live($0) ?? PinnedGeneration(expired: $0) }
        super.init()
    }
}
