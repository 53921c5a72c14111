import Foundation
import Synchronization

/// A state of the stores that contexts can go on reading while others write: see
/// `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A token keeps its generation readable for as long as it, a copy of it, or a context pinned to it is there. An archived token
/// means something only in the process that made it, and only while the generation is readable; see `isExpired`.
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable: immutable; what the state holds is used under the lock of the coordinator only.

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

    /// Whether the generation cannot be read any more: its last other token has gone since this one was archived.
    package final var isExpired: Bool { state?.isExpired ?? false }

    /// How many saves the coordinator had counted when the generation was pinned.
    package final var saveCount: UInt32 { state?.saveCount ?? 0 }

    /// What a store reads this generation with; `nil` for a store that has no generations.
    package final func generation(of store: NSPersistentStore) -> AnyObject? {
        state?.generations[store.identity.number]
    }

    // MARK: Copying and coding

    /// Tokens are immutable: the copy is the token itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether tokens stand for the same generation.
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

    /// Tokens can be decoded where only classes that are expected may be.
    open class var supportsSecureCoding: Bool { true }

    private static let identifierKey = "generation"

    /// Archives the identity of the generation.
    ///
    /// - Parameter coder: a coder with keys.
    open func encode(with coder: NSCoder) {
        coder.encode((state?.identifier.uuidString ?? "") as NSString, forKey: Self.identifierKey)
    }

    /// Finds the generation of an archived token among those that can still be read.
    ///
    /// - Parameter coder: a coder with keys.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.identifierKey) else { return nil }
        let identifier = UUID(uuidString: text.description)
        state = identifier.map { QueryGenerationState.live($0) ?? QueryGenerationState(expired: $0) }
        super.init()
    }
}

/// A generation of a coordinator's stores. It can be read for as long as this object is there.
final class QueryGenerationState: @unchecked Sendable {
    // @unchecked Sendable: immutable; the generations are used under the lock of the coordinator only.
    /// What each store reads with, by the number of its identity.
    let generations: [Int: AnyObject]
    /// How many saves the coordinator had counted by then.
    let saveCount: UInt32
    let isExpired: Bool

    private struct WeakState { weak var state: QueryGenerationState? }
    private static let known = Mutex<[UUID: WeakState]>([:])

    /// What archives call the generation; made when the first one does, since the system is asked for each.
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

    /// The generation of an identifier, if it can still be read.
    static func live(_ identifier: UUID) -> QueryGenerationState? { known.withLock { $0[identifier]?.state } }
}
