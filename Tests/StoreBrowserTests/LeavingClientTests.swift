import CoreData
import HTTPMessages
import Synchronization
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("A client that leaves before its answer is there", .ownThread)
struct LeavingClientTests {
    /// One that leaves shortly after its request.
    private final class Leaving: HTTPClient {
        let isWaiting: Bool
        private let hasEnded = Mutex(false)

        init(isWaiting: Bool = true) { self.isWaiting = isWaiting }

        func whileWaiting<Result>(
            stop: @escaping @Sendable () -> Void, _ body: () throws -> Result
        ) rethrows -> Result {
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                while !self.hasEnded.withLock({ hasEnded in
                    if !hasEnded { stop() }
                    return hasEnded
                }) { usleep(1000) }
                ended.signal()
            }
            defer {
                hasEnded.withLock { $0 = true }
                ended.wait()
            }
            return try body()
        }
    }

    @Test(
        "leaves no search, count or page behind that reads on",
        arguments: [
            "/find/Book?text=nowhere", "/count/Book?where=title%20contains%5Bcd%5D%20%22x%22",
            "/entity/Book?sort=title",
        ])
    func stopped(target: String) throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        try execute(
            """
            WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE)
            SELECT n, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, 'Title ' || n FROM numbers
            """, in: shelf.folder.store)
        var request = HTTPRequest("GET", target)
        request.client = Leaving()
        #expect(shelf.router.response(to: request, token: Shelf.token).status == 500)
        request.client = Leaving(isWaiting: false)
        #expect(shelf.router.response(to: request, token: Shelf.token).status == 500)
        #expect(shelf.get(target).status == 200, "the next one gets its answer")
    }
}
