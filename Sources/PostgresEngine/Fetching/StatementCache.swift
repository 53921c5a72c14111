import CoreDataModel
import Synchronization

/// The prepared statements for the fetches and entities of an open store, shared by all connections that read it.
final class StatementCache: Sendable {
    private struct State: @unchecked Sendable {
        // @unchecked Sendable: the content does not change, apart from atomic counts.
        var fetches: [FetchKey: CachedFetch] = [:]
        var accesses: [EntityAccess?] = []
    }

    private let state = Mutex(State())

    /// The cached fetch of a form.
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

    /// The prepared access to an entity's rows, by its place.
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
