import CoreData
import Foundation
import HTTPMessages
import StoreEngine
import StoreReading
import TestSupport
import Testing

@testable import PippinBrowse
@testable import StoreBrowser

@Suite("What people look for first")
struct LookingTests {
    private let shelf: Shelf

    init() throws { shelf = try Shelf() }

    private func location(_ response: HTTPResponse) -> String? {
        response.headers.first { $0.name == "Location" }?.value.removingPercentEncoding
    }

    @Test("A condition that is chosen becomes a part of the typed one")
    func chosen() throws {
        let first = shelf.get("/entity/Book?column=pages&comparison=more&value=10")
        #expect(first.status == 303)
        #expect(location(first) == "/secret/entity/Book?where=#pages > 10")
        let second = shelf.get(
            "/entity/Book?where=pages%20%3E%2010&column=title&comparison=contains&value=a%22b&size=20")
        #expect(location(second) == "/secret/entity/Book?where=(pages > 10) and #title contains[cd] \"a\\\"b\"&size=20")
        #expect(shelf.get("/entity/Book?column=pages&comparison=nonsense").status == 404)
    }

    @Test("Each choice makes a predicate that the store answers", arguments: ChosenCondition.comparisons.map(\.name))
    func answered(comparison: String) throws {
        let entity = try #require(shelf.entity("Book"))
        for column in ChosenCondition.columns(of: entity) {
            guard !["contains", "begins"].contains(comparison) || ["title", "author.name"].contains(column) else {
                continue
            }
            let value = ["published": "2024-01-01", "title": "x", "author.name": "x"][column] ?? "3"
            let text = try #require(ChosenCondition.filter(adding: column, comparison, value, to: "", of: entity))
            let query = HTTPFields(
                encoded: "where=" + (text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
            let grid = try GridQuery(query, entity, shelf.session.store)
            #expect(grid.problem == nil, "\(text): \(grid.problem?.sentence ?? "")")
            #expect(
                shelf.router.response(
                    to: HTTPRequest(
                        "GET",
                        "/entity/Book?\(query.items.map { "\($0.name)=\($0.value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }.joined())"
                    ), token: Shelf.token
                ).status == 200, "\(text)")
        }
    }

    @Test("Rows to a page and hidden columns stay from page to page")
    func kept() {
        let text = shelf.get("/entity/Book?size=5&hide=price,pages").text
        #expect(!text.contains("<th scope=\"col\" class=\"number\""))
        #expect(text.contains("rel=\"next\"") && text.contains("size=5&amp;hide=price%2Cpages&amp;after="))
        let chosen = shelf.get("/entity/Book?columns=chosen&show=title&show=author")
        let hidden = location(chosen)?.split(separator: "=").last?.split(separator: ",") ?? []
        #expect(Set(hidden) == ["price", "pages", "published", "data"])
    }

    @Test("A page says its number as long as it is known")
    func numbers() throws {
        let first = shelf.get("/entity/Book?size=5").text
        #expect(first.contains("page 1<span data-pages=\"5\">"))
        let next = try #require(first.firstMatch(of: /href="\/secret([^"]*)" rel="next"/)?.1)
        let second = shelf.get(String(next).replacing("&amp;", with: "&")).text
        #expect(second.contains("page 2<span"))
        #expect(!shelf.get("/entity/Book?after=7").text.contains("data-pages"))
    }

    @Test("A page is there as JSON, with the addresses of its neighbours")
    func json() throws {
        let response = shelf.get("/page/Book?size=4&sort=title")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(response.text.utf8)) as? [String: Any])
        #expect((object["objects"] as? [[String: Any]])?.count == 4)
        #expect(object["previous"] is NSNull)
        let next = try #require(object["next"] as? String)
        #expect(shelf.get(String(next.dropFirst("/secret".count))).text.contains("\"previous\": \"/secret"))
    }

    @Test("Groups are counted and added up, and lead to their objects")
    func groups() throws {
        let text = shelf.get("/groups/Book?group=author&add=pages").text
        #expect(text.contains("sum of pages</th>"))
        #expect(text.contains("<svg viewBox"))
        let entity = try #require(shelf.entity("Book"))
        let total = try shelf.session.store.asking { try $0.fetchCount(PageRequest(entity: entity).countPlan) }
        let rows = text.split(separator: "<tr><th scope=\"row\">").dropFirst()
        let counts = rows.compactMap { row in
            row.firstMatch(of: /<td class="number">(\d+)<\/td>/).flatMap { Int($0.1) }
        }
        #expect(counts.reduce(0, +) == total && counts == counts.sorted(by: >))
        let titles = shelf.get("/groups/Book?group=title&where=pages%20%3E%203").text
        let link = try #require(titles.firstMatch(of: /<th scope="row"><a href="\/secret([^"]*)"/)?.1)
        #expect(shelf.get(String(link).replacing("&amp;", with: "&")).status == 200)
        #expect(shelf.get("/groups/Book?group=data").text.contains("a column …"))
        #expect(shelf.get("/groups/Book?group=title&where=nothing").status == 422)
    }

    private func links(_ text: String, after mark: String) -> [(address: String, shown: String, count: Int)] {
        guard let start = text.range(of: mark) else { return [] }
        let rest = text[start.upperBound...].prefix { _ in true }
        let box = rest.range(of: "</ul>").map { rest[..<$0.lowerBound] } ?? rest
        return box.matches(of: /<li><a href="\/secret([^"]*)">(.*?)<\/a> <small>(\d+)<\/small>/).map {
            (String($0.1).replacing("&amp;", with: "&"), String($0.2), Int($0.3) ?? 0)
        }
    }

    @Test("Facets count the values of columns, and a click leaves their objects")
    func facets() throws {
        let text = shelf.get("/entity/Book?where=pages%20%3E%203&size=20&facet=title,author,price").text
        for column in ["title", "author", "price"] {
            let values = links(text, after: "<h2>\(column) <a")
            #expect(values.map(\.count).reduce(0, +) == 20, "\(column)")
            #expect(values.map(\.count) == values.map(\.count).sorted(by: >))
            for value in values {
                let answer = shelf.get(value.address)
                #expect(answer.status == 200 && answer.text.contains("size=20"))
                let count = try #require(answer.text.firstMatch(of: /data-count="\/secret([^"]*)"/)?.1)
                let counted = shelf.get(String(count).replacing("&amp;", with: "&")).text
                #expect(counted == "{\"count\": \(value.count)}", "\(column) \(value.shown): \(value.address)")
            }
        }
        #expect(links(text, after: "<h2>author <a").map(\.shown).contains { $0.hasPrefix("&lt;b&gt;Jane") })
        #expect(!shelf.get("/entity/Book?facet=data,nothing").text.contains("Take away"))
        // The rest of the address stays, but for what is taken away.
        #expect(text.contains("facet=title%2Cprice\" title=\"Take away\""))
    }

    private func upload(_ text: String, _ router: Router, update: Bool = false) -> HTTPResponse {
        let line = "--X\r\nContent-Disposition: form-data; name="
        let more = update ? "\(line)\"update\"\r\n\r\n1\r\n" : ""
        let body =
            "\(line)\"f.file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n\(text)\r\n\(more)--X--\r\n"
        let request = HTTPRequest(
            "POST", "/upload/Author", headers: ["content-type": "multipart/form-data; boundary=X"],
            body: Data(body.utf8))
        return router.response(to: request, token: Shelf.token)
    }

    @Test("A file in CSV is shown first, and imported when that is confirmed; a wrong one changes nothing")
    func uploaded() throws {
        let shelf = try Shelf(isWritable: true)
        let router = Router(shelf.session, graphviz: Graphviz(path: ""), importer: .ofCSV)
        func count() throws -> Int {
            try shelf.session.store.asking { engine in
                try engine.fetchCount(FetchPlan(entity: #require(shelf.entity("Author"))))
            }
        }
        let form = router.response(to: HTTPRequest("GET", "/entity/Author"), token: Shelf.token)
        #expect(form.text.contains("action=\"/secret/upload/Author\""))
        let preview = upload("name\n<i>Ann</i>\nBea\n", router)
        #expect(preview.status == 200 && preview.text.contains("2 objects would be added"))
        #expect(preview.text.contains("&lt;i&gt;Ann&lt;/i&gt;"))
        #expect(try count() == 1)
        let ticket = try #require(preview.text.firstMatch(of: /name="u.file" value="([^"]*)"/)?.1)
        let confirmation = HTTPRequest(
            "POST", "/upload/Author", body: Data("u.file=\(ticket)&confirmed=1".utf8))
        #expect(router.response(to: confirmation, token: Shelf.token).status == 303)
        #expect(try count() == 3)
        // The ticket is spent.
        #expect(router.response(to: confirmation, token: Shelf.token).status == 422)
        let wrong = upload("name,age\nAnn,3\n", router)
        #expect(wrong.status == 422 && wrong.text.contains("no property “age”"))
        #expect(upload("name\nAnn\n", router, update: true).text.contains("no unique values"))
        #expect(try count() == 3)
        // A store that is only looked at takes none.
        let reader = Router(self.shelf.session, graphviz: Graphviz(path: ""), importer: .ofCSV)
        #expect(upload("name\nAnn\n", reader).status == 403)
        #expect(!reader.response(to: HTTPRequest("GET", "/entity/Author"), token: Shelf.token).text.contains("upload"))
    }

    @Test("A word is searched for in the texts of all entities, and means itself")
    func search() {
        let text = shelf.get("/search?text=jane").text
        #expect(text.contains("<h2>Author"))
        #expect(shelf.get("/search?text=%22%20or%20true%20%5C").text.contains("No text contains"))
        #expect(!shelf.get("/search").text.contains("No text contains"))
    }

    @Test("A map is drawn of objects with a latitude and a longitude, and of no others")
    func map() throws {
        #expect(shelf.get("/map/Book").status == 404)
        #expect(!shelf.get("/entity/Book").text.contains(">Map</a>"))
        let places = [(48.2, 16.4), (59.3, 18.1)].map {
            MapPage.Place(latitude: $0.0, longitude: $0.1, title: "<b>", link: "/x")
        }
        let drawn = MapPage.drawing(places).text
        #expect(drawn.components(separatedBy: "<circle").count == 3)
        #expect(drawn.contains("&lt;b&gt;") && drawn.contains("50°"))
        #expect(MapPage.drawing([places[0]]).text.contains("<circle"))
    }

    @Test("The page of a store without history says how to keep one")
    func history() {
        #expect(shelf.get("/history").text.contains("NSPersistentHistoryTrackingKey"))
    }

    @Test("A column of dates says its zone")
    func zone() { #expect(shelf.get("/entity/Book").text.contains("published <small>UTC</small>")) }
}
