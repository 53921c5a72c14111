import CoreData
import HTTPMessages
import StoreReading
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("Pages of the browser")
struct RouterTests {
    @Test("Entities are listed without waiting for their counts, which come on their own")
    func entities() throws {
        let shelf = try Shelf()
        let page = shelf.get("/").text
        #expect(page.contains("data-counts=\"/secret/counts\""))
        #expect(!page.contains(">23<"))
        let names = shelf.session.store.layout.entities.map(\.name)
        let counts = names.map { ["Author": 1, "Book": 23, "Novel": 3][$0] ?? 0 }
        #expect(shelf.get("/counts").text == "{\"counts\": \(counts), \"next\": null}")
        #expect(shelf.get("/counts?after=1").text == "{\"counts\": \(Array(counts.dropFirst())), \"next\": null}")
        for nowhere in ["-1", "x"] { #expect(shelf.get("/counts?after=\(nowhere)").text.contains("23")) }
        #expect(shelf.get("/counts?after=\(Int.max)").text == "{\"counts\": [], \"next\": null}")
        #expect(shelf.get("/count/Book").text == "{\"count\": 23}")
        #expect(shelf.get("/count/Novel").text == "{\"count\": 3}")
        #expect(shelf.get("/count/Book?where=pages%20%3C%203").text == "{\"count\": 2}")
    }

    @Test(
        "Every page escapes what the store says",
        arguments: ["/entity/Author", "/object/Author/1", "/entity/Book", "/object/Book/2"])
    func escaping(_ page: String) throws {
        let text = try Shelf().get(page).text
        #expect(text.contains("&lt;b&gt;Jane&lt;/b&gt; &amp; &quot;Co&quot;"))
        #expect(!text.contains("<b>Jane"))
    }

    @Test("A wrong filter is said under the word, with the status of a mistake")
    func problem() throws {
        let response = try Shelf().get("/entity/Book?where=pages%20%3E%201%20and%20titel%20==%201")
        #expect(response.status == 422)
        #expect(response.text.contains("<code><span>pages &gt; 1 and </span><mark>titel</mark></code>"))
    }

    @Test("A filter that the store cannot run is said, too")
    func unsupported() throws {
        let response = try Shelf().get(
            "/entity/Book?where=data%20like%20%22a%22%20and%20FUNCTION(title,%20%22x%22)%20==%201")
        #expect(response.status == 422)
        #expect(response.text.contains("class=\"problem\""))
    }

    @Test("A page for SQL shows the rows of a statement that is in its address, and changes nothing")
    func sql() throws {
        let shelf = try Shelf()
        #expect(shelf.get("/sql").text.contains("name=\"statement\""))
        let page = shelf.get("/sql?statement=SELECT%20count(*)%20AS%20many,%20max(pages)%20FROM%20Book")
        #expect(page.status == 200 && page.text.contains("<th scope=\"col\">many</th>"))
        #expect(page.text.contains("<td>23</td>") && page.text.contains("1 row."))
        #expect(shelf.get("/sql?statement=SELECT%20name%20FROM%20Author").text.contains("&lt;b&gt;Jane&lt;/b&gt;"))
        for refused in ["DELETE%20FROM%20ZBOOK", "SELEC%201", "PRAGMA%20user_version", "SELECT%201;%20SELECT%202"] {
            let response = shelf.get("/sql?statement=\(refused)")
            #expect(response.status == 422 && response.text.contains("role=\"alert\""), "\(refused)")
        }
        let many =
            "WITH%20RECURSIVE%20n(i)%20AS%20(SELECT%201%20UNION%20ALL%20SELECT%20i%20%2B%201%20FROM%20n)%20SELECT%20i"
            + "%20FROM%20n"
        #expect(shelf.get("/sql?statement=\(many)").text.contains("The first 1000 rows."))
    }

    @Test("A statement that takes too long is stopped, and the next one is not")
    func slowSQL() throws {
        let shelf = try Shelf()
        let site = Site(token: "secret", storeName: "", isWritable: false, undoable: nil)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let stopped = try SQLPage.response(endless, shelf.session, nil, site, patience: 0.2)
        #expect(stopped.status == 422 && stopped.text.contains("was stopped after 1 seconds"))
        let next = try SQLPage.response("SELECT count(*) FROM Book", shelf.session, nil, site)
        #expect(next.status == 200)
    }

    @Test("Relationships lead on and back, also where there is no inverse")
    func relationships() throws {
        let shelf = try Shelf()
        let book = shelf.get("/object/Book/2").text
        #expect(book.contains("href=\"/secret/object/Author/1\""))
        let author = shelf.get("/object/Author/1").text
        #expect(author.contains("/secret/entity/Book?by=Author%2F1%2Fauthor"))
        #expect(author.contains("Author.idol"))
        #expect(shelf.get("/count/Book?by=Author%2F1%2Fauthor").text == "{\"count\": 11}")
        #expect(shelf.get("/count/Author?by=Author%2F1%2Fidol").text == "{\"count\": 1}")
        #expect(shelf.get("/count/Book?of=Author%2F1%2Fbooks").text == "{\"count\": 11}")
    }

    @Test(
        "What is not there is 404, what makes no sense is reported",
        arguments: [
            ("/entity/Nothing", 404), ("/object/Book/999", 404), ("/object/Book/x", 404), ("/nothing", 404),
            ("/value/Book/1/nothing", 404),
            ("/export/Book?format=exe", 400), ("/entity/Book?of=Nobody%2F1%2Fx", 404), ("/edit/Book/1", 404),
            ("/delete/Book/1", 404),
        ])
    func missing(_ target: String, _ status: Int) throws { #expect(try Shelf(count: 1).get(target).status == status) }

    @Test("Bytes are saved as a file, never shown as a page")
    func bytes() throws {
        let response = try Shelf(count: 1).get("/value/Book/1/data")
        #expect(response["Content-Type"] == "application/octet-stream")
        #expect(response["Content-Disposition"] == "attachment; filename=\"Book-1-data\"")
    }

    @Test("Without Graphviz, the diagram says what to install")
    func diagram() throws { #expect(try Shelf(count: 1).get("/diagram").text.contains("apt install graphviz")) }

    @Test("What is shown is exported, piece by piece", arguments: ["csv", "json", "jsonl"])
    func export(_ format: String) throws {
        let response = try Shelf(count: 500).get(
            "/export/Book?format=\(format)&where=pages%20%3C=%20450&sort=pages&order=down")
        guard case .stream(let stream) = response.body else {
            Issue.record("no stream")
            return
        }
        var (text, pieces) = ("", 0)
        while let piece = try stream.next() {
            text += String(decoding: piece, as: UTF8.self)
            pieces += 1
        }
        #expect(pieces > 2)
        switch format {
        case "csv":
            let lines = text.split(separator: "\r\n")
            #expect(lines.count == 451)
            #expect(lines[0] == "objectID,title,price,pages,published,data,author" || lines[0].hasPrefix("objectID,"))
        case "json":
            let objects = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
            #expect(objects.count == 450)
            #expect(objects.first?["pages"] as? Int == 450)
        default: #expect(text.split(separator: "\n").count == 450)
        }
    }

    @Test("An export of large values keeps few of them in memory at once")
    func largeExport() throws {
        let shelf = try Shelf(count: 20)
        try execute("UPDATE ZBOOK SET ZDATA = zeroblob(1000000)", in: shelf.folder.store)
        guard case .stream(let stream) = shelf.get("/export/Book?format=csv").body else {
            Issue.record("no stream")
            return
        }
        var sizes: [Int] = []
        while let piece = try stream.next() { sizes.append(piece.count) }
        #expect(sizes.reduce(0, +) > 26_000_000)
        #expect(sizes.allSatisfy { $0 < 4_000_000 })
    }

    @Test("News of a change reach who waits, and nobody waits for a stream that is over")
    func news() throws {
        let broadcaster = ChangeBroadcaster()
        let stream = broadcaster.stream(heartbeat: 5)
        #expect(try stream.next().map { String(decoding: $0, as: UTF8.self) }?.contains("event: hello") == true)
        broadcaster.broadcast()
        #expect(try stream.next() == Data("data: 1\n\n".utf8))
        stream.cancel()
        #expect(try stream.next() == nil)
        let patient = broadcaster.stream(heartbeat: 0.01)
        _ = try patient.next()
        #expect(try patient.next() == Data(": nothing new\n\n".utf8))
    }
}

@Suite("Editing in the browser")
struct EditingTests {
    @Test("A store that is only looked at takes no changes")
    func readOnly() throws {
        let shelf = try Shelf(count: 2)
        #expect(shelf.post("/edit/Book/1", "v.title=x&confirmed=1").status == 403)
        #expect(shelf.post("/delete/Book/1").status == 403)
        #expect(shelf.post("/undo").status == 403)
        #expect(shelf.get("/object/Book/1").text.contains("Title 1"))
    }

    @Test("A change is shown first, saved when it is confirmed, and can be taken back")
    func edit() throws {
        let shelf = try Shelf(count: 2, isWritable: true)
        let question = shelf.post("/edit/Book/1", "v.title=Emma&v.pages=1")
        #expect(question.text.contains("<del>Title 1</del>"))
        #expect(question.text.contains("<ins>Emma</ins>"))
        #expect(!question.text.contains(">pages<"), "what stays the same is not shown")
        #expect(shelf.get("/object/Book/1").text.contains("Title 1"))
        #expect(shelf.post("/edit/Book/1", "v.title=Emma&confirmed=1").status == 303)
        #expect(shelf.get("/object/Book/1").text.contains("Emma"))
        #expect(shelf.post("/undo").status == 303)
        #expect(shelf.get("/object/Book/1").text.contains("Title 1"))
    }

    @Test("What the question did not show is asked about again, where somebody else has changed the object meanwhile")
    func changedMeanwhile() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        func version(_ page: String) throws -> String {
            String(try #require(page.firstMatch(of: /name="version" value="(\d+)"/)).1)
        }
        let question = shelf.post("/edit/Book/1", "v.title=Emma&v.pages=1").text
        #expect(shelf.post("/edit/Book/1", "v.title=Title+1&v.pages=7&confirmed=1").status == 303)
        let form = "v.title=Emma&v.pages=1&confirmed=1&version="
        let again = shelf.post("/edit/Book/1", form + (try version(question)))
        #expect(again.status == 200)
        #expect(again.text.contains("<del>7</del>"))
        #expect(again.text.contains("Somebody else has changed it"))
        #expect(shelf.get("/count/Book?where=pages%20==%207").text == "{\"count\": 1}")
        #expect(shelf.post("/edit/Book/1", form + (try version(again.text))).status == 303)
        #expect(shelf.get("/count/Book?where=title%20==%20'Emma'%20and%20pages%20==%201").text == "{\"count\": 1}")
    }

    @Test(
        "Invalid values, and those that validation refuses, change nothing",
        arguments: [
            ("v.pages=many", "“pages” needs a whole number of 32 bits."), ("v.pages=-1", "pages"),
            ("v.price=12abc", "“price” needs a decimal number."),
            ("v.published=tomorrow", "“published” needs a date"),
        ])
    func refused(_ form: String, _ message: String) throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let response = shelf.post("/edit/Book/1", form + "&confirmed=1")
        #expect(response.status == 422)
        #expect(response.text.contains(HTML.escaped(message)))
        #expect(shelf.get("/count/Book?where=pages%20==%201").text == "{\"count\": 1}")
        #expect(shelf.session.editor?.undoable == nil)
    }

    @Test("None is not a value, where the attribute is optional")
    func none() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        #expect(shelf.post("/edit/Book/1", "v.title=Title+1&n.title=on&confirmed=1").status == 303)
        #expect(shelf.get("/count/Book?where=title%20==%20nil").text == "{\"count\": 1}")
    }

    @Test("A deletion is asked about, follows the delete rules, and can be taken back")
    func delete() throws {
        let shelf = try Shelf(count: 4, isWritable: true)
        #expect(shelf.get("/delete/Author/1").text.contains("Delete Author/p1?"))
        #expect(shelf.post("/delete/Author/1").status == 303)
        #expect(shelf.get("/object/Author/1").status == 404)
        #expect(shelf.get("/count/Book?where=author%20!=%20nil").text == "{\"count\": 0}")
        #expect(shelf.post("/undo").status == 303)
        #expect(shelf.get("/count/Book?where=author%20!=%20nil").text == "{\"count\": 2}")
    }
}
