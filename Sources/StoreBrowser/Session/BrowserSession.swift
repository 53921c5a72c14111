import CoreData
import Foundation
import HTTPMessages
import StoreEngine
import StoreReading
import Synchronization

/// The state that the pages of one run share: the store, opened once for each kind of concurrent work.
package final class BrowserSession: Sendable {
    /// Opens the store once more.
    package typealias Opener = @Sendable (_ isWritable: Bool, _ announcesChanges: Bool) throws -> DirectStore

    /// How long another program's lock is waited for, in seconds: somebody sits before an empty page meanwhile.
    package static let patience = 5.0
    /// How long the entities' objects are counted before what is known is shown.
    private static let moment = Duration.milliseconds(200)

    /// The store for reading pages; no long work is done on it.
    package let store: DirectStore
    /// Changes the store; nil if it is opened for reading only.
    let editor: StoreEditor?
    package let changes = ChangeBroadcaster()
    /// Uploaded files that wait for a confirmation.
    let uploads = PendingUploads()
    private let opener: Opener
    /// The connection that counts and searches, so that no page waits for it.
    private let counter = SharedConnection()
    /// The connection for pages that may have to read all rows, so that other pages do not wait for them.
    private let sorter = SharedConnection()
    private let observation: PageObservation

    /// - Parameters:
    ///   - isWritable: whether values may be edited and objects deleted.
    ///   - opener: opens the store.
    /// - Throws: the errors of the opener.
    package init(isWritable: Bool = false, _ opener: @escaping Opener) throws {
        self.opener = opener
        let reader = try opener(false, true)
        if isWritable, !reader.pagesByKey {
            // Such a store is in memory as a whole: what one connection saves, another does not see.
            reader.close()
            store = try opener(true, true)
            editor = StoreEditor(store)
        } else {
            store = reader
            editor = isWritable ? try StoreEditor(opener(true, false)) : nil
        }
        let changes = changes
        observation = PageObservation(of: store.coordinator) { changes.broadcast() }
    }

    /// Does work on a connection that may change the store.
    func writing<Result>(_ body: (DirectStore) throws -> Result) throws -> Result {
        guard store.pagesByKey else { return try body(store) }
        let other = try opener(true, false)
        defer { other.close() }
        return try body(other)
    }

    /// Another connection to the store, for long work.
    func open() throws -> DirectStore { try opener(false, false) }

    /// Closes the store; no requests can be answered afterwards.
    package func close() {
        store.close()
        counter.close()
        sorter.close()
        editor?.close()
    }

    /// Does long work on a connection that no page waits for, one at a time. It is stopped if the client leaves.
    func aside<Result>(for client: (any HTTPClient)?, _ body: (DirectStore) throws -> Result) throws -> Result {
        try on(counter, client, body)
    }

    /// Reads a page. One that is neither filtered nor sorted always costs the same; the others have a connection of
    /// their own, and are stopped if the client leaves.
    func reading<Result>(
        _ page: PageRequest, for client: (any HTTPClient)?, _ body: (DirectStore, PageRequest) throws -> Result
    ) throws -> Result {
        guard page.filter != nil || page.sortKey != nil else { return try body(store, page) }
        return try on(sorter, client) { store in
            var page = page
            page.entity = store.layout.entityByName[page.entity.name] ?? page.entity
            return try body(store, page)
        }
    }

    private func on<Result>(
        _ connection: SharedConnection, _ client: (any HTTPClient)?, _ body: (DirectStore) throws -> Result
    ) throws -> Result {
        // A store that is in memory as a whole exists only once, and its filters refer to its objects.
        guard store.pagesByKey else { return try body(store) }
        return try connection.use(open) { store in
            guard client?.isWaiting ?? true else { throw CommandError("nobody waits for the answer any more") }
            return try store.answering(client) { try body(store) }
        }
    }

    /// The number of objects.
    func count(_ request: PageRequest, for client: (any HTTPClient)?) throws -> Int {
        try aside(for: client) { store in
            var plan = request.countPlan
            plan.entity = store.layout.entityByName[plan.entity.name] ?? plan.entity
            return try store.asking { try $0.fetchCount(plan) }
        }
    }

    /// The numbers of objects of several entities, as many as can be counted in a moment: one answer for each of
    /// hundreds of entities would take longer than counting them.
    ///
    /// - Parameters:
    ///   - start: how many entities have been counted already.
    ///   - client: who waits for the answer.
    /// - Returns: the numbers of the next entities, at least one; nil for an entity whose table cannot be read.
    /// - Throws: the errors of opening the store.
    func counts(after start: Int, for client: (any HTTPClient)?) throws -> [Int?] {
        try aside(for: client) { store in
            let end = ContinuousClock.now + Self.moment
            var counts: [Int?] = []
            for entity in store.layout.entities.dropFirst(max(0, start)) where client?.isWaiting ?? true {
                counts.append(try? store.asking { try $0.fetchCount(PageRequest(entity: entity).countPlan) })
                if ContinuousClock.now >= end { break }
            }
            return counts
        }
    }
}

extension DirectStore {
    /// Reads for a client, and stops reading if it leaves.
    func answering<Result>(_ client: (any HTTPClient)?, _ body: () throws -> Result) throws -> Result {
        guard let client, let interrupt = try asking({ $0.interruption?.interrupter }) else { return try body() }
        return try client.whileWaiting(stop: interrupt, body)
    }
}

extension DirectStore {
    /// Reads, and stops reading after some time.
    ///
    /// - Returns: whether it was stopped, and what the closure returned or threw.
    func within<Result>(_ seconds: Double, _ body: () throws -> Result) throws -> (
        isStopped: Bool, result: Swift.Result<Result, any Error>
    ) {
        guard let interrupt = try asking({ $0.interruption?.interrupter }) else {
            return (false, Swift.Result(catching: body))
        }
        let isOver = Mutex<Bool?>(nil)
        let work = DispatchWorkItem {
            // Under the lock, so that it does not stop what comes afterwards.
            isOver.withLock { state in
                guard state == nil else { return }
                state = true
                interrupt()
            }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: work)
        let result = Swift.Result(catching: body)
        work.cancel()
        let isStopped = isOver.withLock { state -> Bool in
            if state == nil { state = false }
            return state == true
        }
        return (isStopped, result)
    }
}

/// A connection for one thread at a time, which is opened when it is first needed.
private final class SharedConnection: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes.
    private let lock = NSLock()
    private var store: DirectStore?

    func use<Result>(
        _ open: () throws -> DirectStore, _ body: (DirectStore) throws -> Result
    ) throws -> Result {
        try lock.withLock {
            let store = try self.store ?? open()
            self.store = store
            return try body(store)
        }
    }

    func close() { lock.withLock { store?.close() } }
}

/// Observes changes of a store until it is deallocated.
private final class PageObservation: @unchecked Sendable {
    // @unchecked Sendable: immutable.
    private let token: any NSObjectProtocol

    init(of coordinator: NSPersistentStoreCoordinator, _ heard: @escaping @Sendable () -> Void) {
        token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { _ in heard() }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
}
