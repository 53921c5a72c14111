import Foundation
import Synchronization

/// A state of the stores that contexts can continue to read while others write: see
/// `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A token keeps its generation readable as long as it, a copy of it, or a context pinned to it exists. An archived
/// token is only valid in the process that made it, and while the generation is readable; see `isExpired`.
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable: immutable; the content of the state is only used under the coordinator's lock.

    private let state: QueryGenerationState?

    init(_ state: QueryGenerationState?) {
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
        state?.generations[store.identity.number]
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
        state = identifier.map { QueryGenerationState.live($0) ?? QueryGenerationState(expired: $0) }
        super.init()
    }
}

/// A generation of a coordinator's stores. It can be read as long as this object exists.
final class QueryGenerationState: @unchecked Sendable {
    // @unchecked Sendable: immutable; the generations are only used under the coordinator's lock.
    /// The object by which each store reads, by the number of its identity.
    let generations: [Int: AnyObject]
    /// The coordinator's count of saves at that time.
    let saveCount: UInt32
    let isExpired: Bool

    private struct WeakState { weak var state: QueryGenerationState? }
    private static let known = Mutex<[UUID: WeakState]>([:])

    /// The identifier of the generation in archives, made when it is first archived, since the system has to be asked
    /// for it.
    private let archived: Mutex<UUID?>

    init(_ generations: [Int: AnyObject], saveCount: UInt32) {
        self.generations = generations
        self.saveCount = saveCount
        isExpired = false
        archived = Mutex(nil)
    }

    init(expired identifier: UUID) {
        generations = [:]
        saveCount = 0
        isExpired = true
        archived = Mutex(identifier)
    }

    deinit {
        guard !isExpired, let identifier = archived.withLock({ $0 }) else { return }
        Self.known.withLock { $0[identifier] = nil }
    }

    /// The identity of the generation in archives.
    var identifier: UUID {
        archived.withLock { archived in
            if let archived { return archived }
            let identifier = UUID()
            archived = identifier
            Self.known.withLock { $0[identifier] = WeakState(state: self) }
            return identifier
        }
    }

    /// The generation with an identifier, if it can still be read.
    static func live(_ identifier: UUID) -> QueryGenerationState? { known.withLock { $0[identifier]?.state } }
}
