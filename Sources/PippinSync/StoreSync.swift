import Dispatch
import Foundation
@_exported public import Pippin
import StoreSession
import SyncPlanning
import Synchronization

extension PersistenceManager {
    /// Keeps this store in step with another one: what is saved in either reaches the other, whoever saves it.
    ///
    /// ```swift
    /// import PippinPostgres
    /// import PippinSync
    ///
    /// let manager = PersistenceManager(models: Book.self, store: .file(url, keepsHistory: .always))
    /// let sync = try manager.sync(with: .postgres("postgresql://app@db.example/books"))
    /// for await state in sync.states { show(state) }
    /// ```
    ///
    /// The other store is the server: it decides. This one can be used without it at any time; what is saved meanwhile
    /// is sent later, in order, each transaction once. Both keep a history.
    ///
    /// - Parameters:
    ///   - server: where the server's store is. It is made if it is missing.
    ///   - scopes: the scopes whose models are here (`Schema(.scope(…))`), beside those that are for
    ///     everybody; nil for all models. What is in other scopes is never sent, and models that leave the scopes leave the store.
    ///     They say what is wanted; what a user may read and write on a server is a matter of the roles of its database.
    /// - Returns: the sync, which runs until it is stopped or released.
    /// - Throws: ``SyncError`` for models that cannot be synced and for a store without a history, and what `load()`
    ///   throws if the store was not open yet.
    public func sync(with server: StoreLocation, scopes: Set<String>? = nil) throws -> StoreSync {
        try StoreSync(self, server, scopes: scopes)
    }

    /// Keeps this store in step with a server over HTTP, as with a store that it can reach itself.
    ///
    /// ```swift
    /// let sync = try manager.sync(with: .server("https://api.example/sync") { try await session.token() })
    /// ```
    ///
    /// What a user may see and change is decided there (``SyncServer``). News is waited for by a request that the
    /// server answers when there is some, over the same connection where the server takes several requests on one
    /// (HTTP/2).
    ///
    /// - Parameters:
    ///   - server: where the server answers.
    ///   - scopes: the scopes whose models are here, among those that the user may see; nil for all of these.
    /// - Returns: the sync, which runs until it is stopped or released.
    /// - Throws: ``SyncError`` for an address that cannot be asked, for models that cannot be synced and for a store
    ///   without a history, and what `load()` throws if the store was not open yet.
    public func sync(with server: SyncServerAddress, scopes: Set<String>? = nil) throws -> StoreSync {
        try StoreSync(self, server, scopes: scopes)
    }
}

extension PersistenceManager {
    /// A manager of a store with the model that the store itself has.
    ///
    /// - Parameters:
    ///   - name: the manager's name.
    ///   - location: where the store is. It is not migrated.
    /// - Returns: the manager; nil without a store, or without a model in it.
    /// - Throws: the errors of a store that is there and cannot be read.
    package static func withOwnModel(name: String, of location: StoreLocation) throws -> PersistenceManager? {
        guard let description = location.makeDescription(), let url = description.url,
            let format = StoreFormats.migratable(ofType: description.type)
        else { return nil }
        if url.isFileURL, !FileManager.default.fileExists(atPath: url.path) { return nil }
        description.shouldMigrateStoreAutomatically = false
        let model: NSManagedObjectModel
        do {
            model = try format.sourceModel(of: url, near: nil, options: description.options)
        } catch let error as NSError
            where [CoreDataErrorCode.migrationMissingSourceModel, CocoaError.Code.fileReadNoSuchFile.rawValue]
            .contains(error.code)
        { return nil }
        return PersistenceManager(.built(model), name: name, store: StoreLocation(description))
    }
}

/// A store that is kept in step with a server.
public final class StoreSync: Sendable {
    /// How the two stores stand.
    public enum State: Hashable, Sendable {
        /// Both have the same, since then.
        case upToDate(Date)
        /// So many saved transactions have not reached the server.
        case pending(Int)
        /// Rows of the server are read.
        case downloading
        /// The server does not answer, or a store cannot be read or written, since then. It is tried again.
        case offline(since: Date, reason: String)
        /// So many changes were not taken: see ``StoreSync/refused()``. Everything else is the same on both sides.
        case refused(Int)
        /// The server's models lack properties that some saves have. These wait for a newer server.
        case waitsForServer(pending: Int)
        /// The server's models require properties that this program does not know. Saves wait for a newer program.
        case waitsForProgram(pending: Int)
        /// The store is an older copy of itself. Nothing is sent.
        case isOlderCopy
        /// The server does not know the user, or the program gives no token. It is asked again.
        case needsLogin
        /// The server takes nothing from this device, and says why: the user may not, the versions do not fit, or a
        /// saved transaction is too large. It is asked again.
        case refusedByServer(reason: String)
        /// ``StoreSync/check()`` has found so many models that differed from the server's, past both histories. They
        /// are now as on the server.
        case repaired(Int)
    }

    let runner: SyncRunner
    private let shown: Shown

    /// A sync that runs by itself, or else only in ``finish()``.
    ///
    /// - Parameters:
    ///   - manager: the device's store.
    ///   - location: the server's store.
    ///   - scopes: the scopes whose rows are here; nil for all rows.
    ///   - isLive: whether it runs by itself.
    ///   - idle: how often a server that reports changes is asked whether there are any, in milliseconds.
    /// - Throws: ``SyncError``, and what opening the device's store throws.
    package convenience init(
        _ manager: PersistenceManager, _ location: StoreLocation, scopes: Set<String>? = nil, isLive: Bool = true,
        idle: Int64 = 300_000
    ) throws {
        let server = StoreServer(for: manager, at: location, scopes: scopes.map { Set($0.map { SyncScope($0) }) })
        self.init(try SyncStore(manager, isScoped: scopes != nil), server, isLive: isLive, idle: idle)
    }

    /// A sync over HTTP.
    ///
    /// - Parameters:
    ///   - manager: the device's store.
    ///   - address: the server.
    ///   - scopes: the scopes whose rows are here; nil for all that the user may see.
    ///   - isLive: whether it runs by itself.
    /// - Throws: ``SyncError``, and what opening the device's store throws.
    package convenience init(
        _ manager: PersistenceManager, _ address: SyncServerAddress, scopes: Set<String>? = nil, isLive: Bool = true
    ) throws {
        let server = try RemoteServer(address, scopes: scopes.map { Set($0.map { SyncScope($0) }) })
        self.init(try SyncStore(manager, isScoped: scopes == nil ? nil : true), server, isLive: isLive, idle: 300_000)
    }

    private init(_ store: SyncStore, _ server: any SyncPeer, isLive: Bool, idle: Int64) {
        let shown = Shown()
        self.shown = shown
        runner = SyncRunner(device: SyncDevice(store), server: server, idle: idle) { shown.show($0, $1) }
        if isLive { runner.start() }
    }

    deinit { runner.stop() }

    /// How the two stores stand: the present state first, and then each that differs from the one before.
    public var states: AsyncStream<State> { shown.stream() }

    /// The present state.
    public var state: State { shown.present }

    /// Waits until both stores have the same, apart from what others save meanwhile.
    ///
    /// - Throws: ``SyncError`` if the server does not answer, or a store cannot be read or written.
    public func finish() async throws {
        let runner = runner
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async { continuation.resume(with: Result { try runner.finish() }) }
        }
    }

    /// Compares all models with the server's, as ``finish()`` has left them, and takes the server's where they differ:
    /// rows that somebody changed past the history, by SQL on either side, or that a damaged file has lost. Sums over
    /// ranges of identifiers are compared, the parts of those that differ, and so on; then the models of the smallest
    /// ranges. Saves that were not sent stay on top.
    ///
    /// Both sides read all of their rows once; nothing else is locked.
    ///
    /// - Returns: the models that differed; ``states`` shows ``State/repaired(_:)`` if there are any.
    /// - Throws: ``SyncError`` if the server does not answer, or a store cannot be read or written.
    @discardableResult
    public func check() async throws -> [RepairedModel] {
        let repaired = try await trying { runner in try runner.check() }
        if !repaired.isEmpty { shown.show(.repaired(repaired.count), runner) }
        return repaired
    }

    /// Stops. What was saved and not sent is sent by the next sync of the store.
    public func stop() async {
        await off { $0.stop() }
        await runner.server.close()
        shown.end()
    }

    /// Stops, and forgets what the store has in common with the server. The next sync of the store, with this server or
    /// another one, downloads everything that the server has, which takes the place of what is here, and sends what was
    /// not sent before.
    ///
    /// - Throws: what writing to the store throws.
    public func discard() async throws {
        await stop()
        try await trying { try $0.device.forget() }
    }

    // MARK: What was not taken

    /// The changes that were not taken, in the order in which that became known.
    ///
    /// - Returns: the changes, each until it is saved again or discarded.
    /// - Throws: what reading the store throws.
    public func refused() async throws -> [RefusedSave] {
        try await trying { runner in
            try runner.device.journal().map { RefusedSave($0, runner) }
        }
    }

    private func off(_ work: @escaping @Sendable (SyncRunner) -> Void) async {
        let runner = runner
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                work(runner)
                continuation.resume()
            }
        }
    }

    private func trying<Result: Sendable>(
        _ work: @escaping @Sendable (SyncRunner) throws -> Result
    ) async throws -> Result { try await RefusedSave.off(runner, work) }
}

/// The states that a program sees.
private final class Shown: Sendable {
    private struct Content {
        var state = StoreSync.State.pending(0)
        var offline: Date?
        var next = 0
        var streams: [Int: AsyncStream<StoreSync.State>.Continuation] = [:]
    }

    private let content = Mutex(Content())

    var present: StoreSync.State { content.withLock { $0.state } }

    func stream() -> AsyncStream<StoreSync.State> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreSync.State.self, bufferingPolicy: .bufferingNewest(16))
        let number = content.withLock { content in
            content.next += 1
            content.streams[content.next] = continuation
            continuation.yield(content.state)
            return content.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.content.withLock { $0.streams[number] = nil }
        }
        return stream
    }

    func end() {
        let streams = content.withLock { content in
            defer { content.streams = [:] }
            return content.streams
        }
        for stream in streams.values { stream.finish() }
    }

    func show(_ state: SyncState, _ runner: SyncRunner) {
        if case .offline = state {
            let reason = runner.failure.map { "\($0)" } ?? "no answer"
            switch (runner.failure as? SyncError)?.code {
            case .needsLogin: return set { _ in .needsLogin }
            case .refused, .version, .tooLarge: return set { _ in .refusedByServer(reason: reason) }
            default: break
            }
            return set { .offline(since: $0 ?? Date(), reason: reason) }
        }
        // What is heard takes no time that is worth a word, unless nothing could be heard before.
        if case .pulling = state, content.withLock({ $0.offline == nil }) { return }
        guard let counts = try? runner.device.counts() else { return }
        set { _ in
            switch state {
            case .greeting, .pushing, .pulling: .pending(counts.pending)
            case .downloading: .downloading
            case .upToDate: counts.refused > 0 ? .refused(counts.refused) : .upToDate(Date())
            case .offline: .pending(counts.pending)
            case .waitsForServer: .waitsForServer(pending: counts.pending)
            case .waitsForProgram: .waitsForProgram(pending: counts.pending)
            case .isOlderCopy: .isOlderCopy
            case .repaired(let count): .repaired(count)
            }
        }
    }

    private func set(_ state: (_ offline: Date?) -> StoreSync.State) {
        content.withLock { content in
            let new = state(content.offline)
            if case .offline(let since, _) = new { content.offline = since } else { content.offline = nil }
            if content.state == new { return }
            content.state = new
            for stream in content.streams.values { stream.yield(new) }
        }
    }
}
