import CoreDataModel
import Synchronization

/// What was made once for the fetches and entities of an open store, for all connections that read it.
final class StatementCache: Sendable {
    private struct State: @unchecked Sendable {
        // @unchecked Sendable: what is in it does not change, apart from counts that are atomic.
        var fetches: [FetchKey: CachedFetch] = [:]
        var accesses: [EntityAccess?] = []
    }

    private let state = Mutex(State())

    /// What reads rows of a form of fetches.
    func fetch(_ key: FetchKey) -> CachedFetch? {
        state.withLock { state in Shared(value: state.fetches[key]) }.value
    }

    func add(_ fetch: CachedFetch, for key: FetchKey) {
        let shared = Shared(value: (key, fetch))
        state.withLock { state in
            if state.fetches.count >= 512 { state.fetches.removeAll() }
            state.fetches[shared.value.0] = shared.value.1
        }
    }

    /// What was prepared for the rows of an entity, by its place.
    func access(_ index: Int) -> EntityAccess? {
        state.withLock { state in
            Shared(value: state.accesses.indices.contains(index) ? state.accesses[index] : nil)
        }.value
    }

    func add(_ access: EntityAccess, at index: Int) {
        let shared = Shared(value: access)
        state.withLock { state in
            while state.accesses.count <= index { state.accesses.append(nil) }
            state.accesses[index] = shared.value
        }
    }

    private struct Shared<Value>: @unchecked Sendable {
        // @unchecked Sendable: see `State`.
        let value: Value
    }
}
