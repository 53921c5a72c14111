import CoreData
import Testing

@Suite("The history in pages")
struct HistoryPagesTests {
    @Test("The store limits the transactions, whose changes alone are read")
    func pages() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("COREDATA_SQL_DEBUG", "1", 1)
            let store = try BatchStore(Library.model(), options: HistoryTests.tracking)
            for name in ["a", "b", "c"] { try store.save { $0.make("Tag", ["name": name]) } }
            var token: NSPersistentHistoryToken?
            var pages: [[Int64]] = []
            repeat {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
                request.fetchRequest?.fetchLimit = 2
                let found = try store.execute(request, NSPersistentHistoryResult.self).result
                let transactions = try #require(found as? [NSPersistentHistoryTransaction])
                #expect(transactions.allSatisfy { $0.changes?.count == 1 })
                pages.append(transactions.map(\.transactionNumber))
                token = transactions.last?.token ?? token
            } while pages.last?.isEmpty == false
            #expect(pages == [[1, 2], [3], []])
        }
        let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(log.contains(" ORDER BY t.Z_PK LIMIT ?"))
        #expect(log.contains(" AND c.ZTRANSACTIONID <= ? "))
    }

    @Test("An offset beyond all transactions finds none, however large it is with the limit")
    func largeOffset() throws {
        let store = try BatchStore(Library.model(), options: HistoryTests.tracking)
        try store.save { $0.make("Tag", ["name": "a"]) }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        request.fetchRequest?.fetchLimit = 2
        request.fetchRequest?.fetchOffset = .max
        let found = try store.execute(request, NSPersistentHistoryResult.self).result
        #expect((found as? [NSPersistentHistoryTransaction])?.isEmpty == true)
    }
}
