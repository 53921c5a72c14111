import SQLiteConnection
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("The timeline in the browser")
struct TimelinePageTests {
    private let shelf: Shelf

    init() throws {
        shelf = try Shelf(count: 150)
        // One day a book, but for a day on which a hundred were published.
        try execute(
            "UPDATE ZBOOK SET ZPUBLISHED = CASE WHEN Z_PK BETWEEN 20 AND 119 THEN 86400 * 20 ELSE 86400 * Z_PK END",
            in: shelf.folder.store)
    }

    private func objects(_ page: String) -> [String] {
        page.split(separator: " title=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }.filter {
            $0.contains("/p")
        }
    }

    /// The address of the link of a kind; nil if there is none.
    private func link(_ kind: String, _ page: String) -> String? {
        guard let start = page.range(of: "<a rel=\"\(kind)\" href=\"") else { return nil }
        return String(page[start.upperBound...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
            .replacing("/\(Shelf.token)", with: "")
    }

    @Test("Every date of every object is on one page, the latest first, however many are of one moment")
    func pages() throws {
        var (target, all, count): (String?, [String], Int) = ("/timeline", [], 0)
        while let next = target, count < 10 {
            let page = shelf.get(next)
            #expect(page.status == 200)
            all += objects(page.text)
            target = link("next", page.text)
            count += 1
        }
        #expect(count == 3)
        #expect(all.count == 150)
        #expect(Set(all).count == 150)
        #expect(all.first?.hasSuffix("/p150") == true)
        #expect(all.last?.hasSuffix("/p1") == true)
    }

    @Test("A page begins at a day that was asked for")
    func day() {
        let page = shelf.get("/timeline?at=2001-01-05").text
        #expect(objects(page).count == 4)
        #expect(page.contains("2001-01-05T00:00:00Z"))
        #expect(shelf.get("/timeline?at=yesterday").status == 422)
    }

    @Test("Places that no page has show what there is, and end")
    func nowhere() {
        for place in ["before=nan", "before=1e400", "before=-1e300&skip=5", "before=0&skip=-3", "before=86400&skip=99"]
        {
            #expect(shelf.get("/timeline?\(place)").status == 200, "\(place)")
        }
    }
}
