import CoreData
import Foundation
import StoreReading
import Testing

@testable import StoreBrowser

@Suite("Pages")
struct PagingTests {
    @Test(
        "Every object is on one page, in whatever order, forwards and backwards",
        arguments: [nil, "title", "price", "pages", "published"], [true, false])
    func walk(_ key: String?, _ isAscending: Bool) throws {
        let shelf = try Shelf()
        let store = shelf.session.store
        var request = PageRequest(entity: try #require(shelf.entity("Book")))
        (request.sortKey, request.isAscending, request.size) = (key, isAscending, 4)
        let all = try store.asking { try $0.fetchRows(request.fullPlan) }.map(\.objectID.key)
        #expect(Set(all).count == 23)
        var (forwards, pages): ([Int64], [Page]) = ([], [])
        while true {
            let page = try store.page(request)
            pages.append(page)
            forwards += page.rows.map(\.objectID.key)
            guard page.hasAfter, let last = page.rows.last else { break }
            request.start = .after(last.objectID.key)
        }
        #expect(forwards == all)
        #expect(pages.count == 6)
        #expect(pages.map(\.hasBefore) == [false, true, true, true, true, true])
        var backwards: [Int64] = pages.last?.rows.map(\.objectID.key) ?? []
        while let first = backwards.first {
            request.start = .before(first)
            let page = try store.page(request)
            #expect(page.hasAfter)
            backwards = page.rows.map(\.objectID.key) + backwards
            if !page.hasBefore { break }
        }
        #expect(backwards == all)
    }

    @Test("A page and a filter go together")
    func filter() throws {
        let shelf = try Shelf()
        let text = shelf.get("/entity/Book?where=pages%20%3E%2010&sort=pages&order=down&size=5&after=20").text
        let keys = text.split(separator: "data-key=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(keys == ["19", "18", "17", "16", "15"])
    }

    @Test("A page that takes long holds up neither other pages nor counts")
    func slowPages() throws {
        let shelf = try Shelf()
        let entity = try #require(shelf.entity("Book"))
        let (hasBegun, mayEnd, hasEnded) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let session = shelf.session
        Thread.detachNewThread {
            var request = PageRequest(entity: entity)
            request.sortKey = "title"
            try? session.reading(request) { store, _ in
                try store.asking { _ in
                    hasBegun.signal()
                    mayEnd.wait()
                }
            }
            hasEnded.signal()
        }
        hasBegun.wait()
        #expect(shelf.get("/entity/Book").status == 200)
        #expect(shelf.get("/object/Book/1").status == 200)
        #expect(shelf.get("/count/Book?where=pages%20%3C%203").text == "{\"count\": 2}")
        mayEnd.signal()
        hasEnded.wait()
        #expect(shelf.get("/entity/Book?sort=title").status == 200)
    }
}
