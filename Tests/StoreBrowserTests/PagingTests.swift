import CoreData
import Foundation
import HTTPMessages
import StoreReading
import TestSupport
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

    @Test("The next page begins where the former one ended, also if the object there is gone")
    func deleted() throws {
        for key in ["title", "price", "published"] {
            let shelf = try Shelf(isWritable: true)
            func keys(_ page: HTTPResponse) -> [String] {
                page.text.split(separator: "data-key=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
            }
            let first = shelf.get("/entity/Book?sort=\(key)&order=down&size=4")
            let next = try #require(first.text.firstMatch(of: /href="\/secret([^"]*)" rel="next"/)?.1)
                .replacing("&amp;", with: "&")
            let expected = keys(shelf.get(next + "&size=4"))
            let last = try #require(keys(first).last?.split(separator: " "))
            #expect(shelf.post("/delete/\(last.count > 1 ? last[0] : "Book")/\(last[last.count - 1])").status == 303)
            #expect(keys(shelf.get(next + "&size=4")) == expected, "\(key)")
        }
    }

    @Test("A page that takes long holds up neither other pages nor counts", .ownThread)
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
            try? session.reading(request, for: nil) { store, _ in
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
