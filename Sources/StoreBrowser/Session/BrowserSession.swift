import CoreData
import Foundation
import HTTPMessages
import StoreEngine
import StoreReading
import Synchronization

/// What the pages of one run have in common: the store, opened as often as things are to be done at the same time.
package final class BrowserSession: Sendable {
    /// Opens the store once more.
    package typealias Opener = @Sendable (_ isWritable: Bool, _ announcesChanges: Bool) throws -> DirectStore

    /// What pages are read from: nothing that takes long is asked of it.
    package let store: DirectStore
    /// Changes the store; nil where it is only looked at.
    let editor: StoreEditor?
    package let news = NewsDesk()
    /// Files that were sent, and wait for a confirmation.
    let uploads = UploadShelf()
    private let opener: Opener
    /// What counts and searches, so that no page waits for it.
    private let counter = Mutex<DirectStore?>(nil)
    /// What reads pages that may have to look at all rows, so that other pages do not wait for them.
    private let sorter = Mutex<DirectStore?>(nil)
    private let observation: Observation

    /// - Parameters:
    ///   - isWritable: whether values may be edited and objects deleted.
    ///   - opener: opens the store.
    /// - Throws: what the opener throws.
    package init(isWritable: Bool = false, _ opener: @escaping Opener) throws {
        self.opener = opener
        store = try opener(false, true)
        editor = isWritable ? try StoreEditor(opener(true, false)) : nil
        let news = news
        observation = Observation(of: store.coordinator) { news.announce() }
    }

    /// Another connection to the store, for what takes long.
    func open() throws -> DirectStore { try opener(false, false) }

    /// Closes the store, which answers nothing then.
    package func close() {
        store.close()
        counter.withLock { $0?.close() }
        sorter.withLock { $0?.close() }
        editor?.close()
    }

    /// Does what may take long on a connection that no page waits for. One thing at a time.
    func aside<Result>(_ body: (DirectStore) throws -> Result) throws -> Result { try on(counter, body) }

    /// Reads a page: one that is neither filtered nor sorted costs the same whatever there is, the others have a connection of their own.
    func reading<Result>(_ page: PageRequest, _ body: (DirectStore, PageRequest) throws -> Result) throws -> Result {
        guard page.filter != nil || page.sortKey != nil else { return try body(store, page) }
        return try on(sorter) { store in
            var page = page
            page.entity = store.layout.entityByName[page.entity.name] ?? page.entity
            return try body(store, page)
        }
    }

    private func on<Result>(
        _ connection: borrowing Mutex<DirectStore?>, _ body: (DirectStore) throws -> Result
    ) throws -> Result {
        // A store that is in memory as a whole is there once, and its filters name objects of it.
        guard store.pagesByKey else { return try body(store) }
        return try connection.withLock { connection in
            let store = try connection ?? open()
            connection = store
            return try body(store)
        }
    }

    /// How many objects there are.
    func count(_ request: PageRequest) throws -> Int {
        try aside { store in
            var plan = request.countPlan
            plan.entity = store.layout.entityByName[plan.entity.name] ?? plan.entity
            return try store.asking { try $0.fetchCount(plan) }
        }
    }
}

/// Hears of changes of a store until it goes.
private final class Observation: @unchecked Sendable {
    // @unchecked Sendable: immutable.
    private let token: any NSObjectProtocol

    init(of coordinator: NSPersistentStoreCoordinator, _ heard: @escaping @Sendable () -> Void) {
        token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { _ in heard() }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
}
