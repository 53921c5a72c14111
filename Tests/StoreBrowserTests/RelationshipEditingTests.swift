import Foundation
import HTTPMessages
import StoreReading
import Testing

@testable import StoreBrowser

@Suite("Relationships and bytes, edited in the browser")
struct RelationshipEditingTests {
    private func count(_ shelf: Shelf, _ filter: String) -> String {
        shelf.get("/count/Book?where=\(Address.encoded(filter))").text
    }

    @Test("The object of a to-one relationship is chosen by its number, cleared, and taken back")
    func toOne() throws {
        let shelf = try Shelf(count: 3, isWritable: true)
        let question = shelf.post("/edit/Book/1", "r.author=Author%2Fp1")
        #expect(question.text.contains("<del>none</del>"))
        #expect(question.text.contains("<ins>&lt;b&gt;Jane&lt;/b&gt; &amp; &quot;Co&quot; (Author/p1)</ins>"))
        #expect(count(shelf, "author == nil") == "{\"count\": 2}", "nothing is saved before it is confirmed")
        #expect(shelf.post("/edit/Book/1", "r.author=Author%2Fp1&confirmed=1").status == 303)
        #expect(count(shelf, "author == nil") == "{\"count\": 1}")
        #expect(shelf.post("/edit/Book/2", "r.author=&confirmed=1").status == 303)
        #expect(count(shelf, "author == nil") == "{\"count\": 2}")
        _ = shelf.post("/undo")
        #expect(count(shelf, "author == nil") == "{\"count\": 1}")
    }

    @Test(
        "An object is named by its URI, by entity and number, or by its number",
        arguments: ["uri", "Author/1", "p1", "1"])
    func names(_ form: String) throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let author = try #require(shelf.entity("Author"))
        let uri = shelf.session.store.identifier(author, 1).uriRepresentation().absoluteString
        let name = Address.encoded(form == "uri" ? uri : form)
        #expect(shelf.post("/edit/Book/1", "r.author=\(name)&confirmed=1").status == 303)
        #expect(count(shelf, "author != nil") == "{\"count\": 1}")
    }

    @Test(
        "What is not an object of the store is refused, and says why",
        arguments: [
            ("Author/p9", "is not there"), ("Book/p1", "is not of entity Author"),
            ("Nobody/p1", "an entity that there is not"),
            ("somebody", "neither a URI nor such as Author/p1"), ("1, 1", "leads to one object"),
            ("x-coredata://00000000-0000-0000-0000-000000000000/Author/p1", "is of another store"),
        ])
    func refusals(_ text: String, _ reason: String) throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let response = shelf.post("/edit/Book/1", "r.author=\(Address.encoded(text))&confirmed=1")
        #expect(response.status == 422)
        #expect(response.text.contains(HTML.escaped(reason)))
        #expect(response.text.contains("value=\"\(HTML.escaped(text))\""), "what was typed is there still")
        #expect(count(shelf, "author != nil") == "{\"count\": 0}")
    }

    @Test("A number under the name of another entity of its hierarchy names no object")
    func otherEntity() throws {
        let shelf = try Shelf(count: 7, isWritable: true)
        let response = shelf.post("/edit/Author/1", "a.books=Novel%2Fp1&confirmed=1")
        #expect(response.status == 422)
        #expect(response.text.contains(HTML.escaped("“Novel/p1” is not there")))
        #expect(response.text.contains("value=\"Novel/p1\""), "what was typed is there still")
        #expect(shelf.get("/find/Book?text=Novel%2F1").text == "{\"items\": []}")
        #expect(shelf.get("/object/Novel/1").status == 404)
        #expect(shelf.get("/value/Novel/1/title").status == 404)
        #expect(shelf.post("/delete/Novel/1").status == 404)
        #expect(count(shelf, "TRUEPREDICATE") == "{\"count\": 7}")
        #expect(shelf.get("/object/Book/7").text.contains("Novel/p7"))
    }

    @Test(
        "Objects are added to a to-many relationship and removed from it; the other side follows, and all is taken back at once"
    )
    func toMany() throws {
        let shelf = try Shelf(count: 8, isWritable: true)
        let form = "a.books=Book%2Fp1,+Novel%2Fp7&x.books=Book%2Fp2&x.books=4"
        let question = shelf.post("/edit/Author/1", form).text
        #expect(question.contains("<del>Title 2 (Book/p2), Title 4 (Book/p4)</del>"))
        #expect(question.contains("<ins>Title 1 (Book/p1), Title 2 (Novel/p7)</ins>"))
        #expect(shelf.post("/edit/Author/1", form + "&confirmed=1").status == 303)
        #expect(count(shelf, "author != nil and pages in {1, 6, 7, 8}") == "{\"count\": 4}")
        #expect(count(shelf, "author != nil") == "{\"count\": 4}")
        _ = shelf.post("/undo")
        #expect(count(shelf, "author != nil and pages in {2, 4, 6, 8}") == "{\"count\": 4}")
    }

    @Test("What a to-many relationship does not lead to cannot be removed from it")
    func strangers() throws {
        let shelf = try Shelf(count: 2, isWritable: true)
        let response = shelf.post("/edit/Author/1", "x.books=Book%2Fp1&confirmed=1")
        #expect(response.status == 422)
        #expect(response.text.contains("does not lead to Book/p1"))
    }

    @Test("The form has a box for each object, and a field for those beyond the first fifty")
    func form() throws {
        let few = try Shelf(count: 6, isWritable: true).get("/edit/Author/1").text
        #expect(few.components(separatedBy: "type=\"checkbox\" name=\"x.books\"").count == 4)
        #expect(!few.contains("Others to remove"))
        let many = try Shelf(count: 104, isWritable: true).get("/edit/Author/1").text
        #expect(many.components(separatedBy: "type=\"checkbox\" name=\"x.books\"").count == 51)
        #expect(many.contains("Others to remove from books"))
    }

    @Test("Objects are found by a part of their names, or by their numbers; only where they can be chosen")
    func search() throws {
        let shelf = try Shelf(count: 9, isWritable: true)
        #expect(
            shelf.get("/find/Author?text=jÄne").text.contains(
                "\"text\": \"Author/p1\", \"detail\": \"<b>Jane</b> & \\\"Co\\\"\""))
        #expect(shelf.get("/find/Book?text=Novel%2F7").text.contains("\"text\": \"Novel/p7\""))
        #expect(shelf.get("/find/Book?text=title+3").text.components(separatedBy: "\"text\"").count == 3)
        #expect(shelf.get("/find/Author?text=nobody").text == "{\"items\": []}")
        #expect(try Shelf(count: 1).get("/find/Author?text=j").status == 404)
    }

    @Test("A refused change leaves what was done before to be taken back")
    func undoAfterRefusal() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        #expect(shelf.post("/edit/Book/1", "v.title=Emma&confirmed=1").status == 303)
        #expect(shelf.post("/edit/Book/1", "v.title=Other&v.pages=-1&confirmed=1").status == 422)
        #expect(count(shelf, "title == \"Emma\"") == "{\"count\": 1}")
        #expect(shelf.post("/undo").status == 303)
        #expect(count(shelf, "title == \"Title 1\"") == "{\"count\": 1}")
    }

    @Test("Lines end as they did, and what a page has no place for is not a change")
    func lines() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        #expect(shelf.post("/edit/Book/1", "v.title=a%0D%0Ab%01&confirmed=1").status == 303)
        let form = shelf.get("/edit/Book/1").text
        #expect(form.contains("a\nb\u{1}</textarea>"))
        #expect(shelf.post("/edit/Book/1", "v.title=a%0D%0Ab%01").status == 303, "nothing was typed")
        let question = shelf.post("/edit/Book/1", "v.title=a%0D%0Ac%0D%0Ad").text
        #expect(question.contains("name=\"v.title\" value=\"a\nc\nd\""))
        #expect(shelf.post("/edit/Book/1", "v.title=a%0D%0Ac%0D%0Ad&confirmed=1").status == 303)
        #expect(count(shelf, "title == \"a\\nc\\nd\"") == "{\"count\": 1}")
    }

    // MARK: Bytes

    private func multipart(_ shelf: Shelf, _ target: String, _ parts: [(String, Data)]) -> HTTPResponse {
        var body = Data()
        for (head, content) in parts {
            body +=
                Data("--limit\r\nContent-Disposition: form-data; \(head)\r\n\r\n".utf8) + content + Data("\r\n".utf8)
        }
        let request = HTTPRequest(
            "POST", target, headers: ["content-type": "multipart/form-data; boundary=limit"],
            body: body + Data("--limit--\r\n".utf8))
        return shelf.router.response(to: request, token: Shelf.token)
    }

    private func bytes(_ shelf: Shelf) -> Data? {
        guard case .data(let data) = shelf.get("/value/Book/1/data").body else { return nil }
        return data
    }

    @Test("Bytes are typed as hexadecimal digits, and an odd one is refused")
    func hex() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        #expect(
            shelf.get("/edit/Book/1").text.contains(
                "3c 73 76 67 20 6f 6e 6c 6f 61 64 3d 61 6c 65 72\n74 28 31 29 3e</textarea>"))
        #expect(shelf.post("/edit/Book/1", "v.data=00+fF%0D%0A10").text.contains("<ins>3 bytes: 00 ff 10</ins>"))
        #expect(shelf.post("/edit/Book/1", "v.data=00+fF%0D%0A10&confirmed=1").status == 303)
        #expect(bytes(shelf) == Data([0, 255, 16]))
        for wrong in ["0", "0g", "٣٣"] {
            let response = shelf.post("/edit/Book/1", "v.data=\(Address.encoded(wrong))&confirmed=1")
            #expect(response.status == 422)
            #expect(response.text.contains("pairs of hexadecimal digits"))
        }
        _ = shelf.post("/undo")
        #expect(bytes(shelf) == Data("<svg onload=alert(1)>".utf8))
    }

    @Test("A file that is sent waits for the confirmation, and becomes the value")
    func file() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let sent = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0) } + Data("\r\n--limi".utf8))
        let question = multipart(
            shelf, "/edit/Book/1",
            [
                ("name=\"v.data\"", Data()),
                ("name=\"f.data\"; filename=\"a.bin\"\r\nContent-Type: application/octet-stream", sent),
            ])
        #expect(question.text.contains("<ins>5,008 bytes: 00 01 02 03 04 05 06 07 08 09 0a 0b …</ins>"))
        let mark = "name=\"u.data\" value=\""
        let start = try #require(question.text.range(of: mark)?.upperBound)
        let ticket = question.text[start...].prefix { $0 != "\"" }
        #expect(shelf.post("/edit/Book/1", "u.data=\(ticket)&confirmed=1").status == 303)
        #expect(bytes(shelf) == sent)
        // Too many to be typed: an empty field leaves them as they are.
        #expect(shelf.get("/edit/Book/1").text.contains("Empty leaves them as they are"))
        #expect(shelf.post("/edit/Book/1", "v.data=&v.title=Emma&confirmed=1").status == 303)
        #expect(bytes(shelf) == sent)
        let again = shelf.post("/edit/Book/1", "u.data=\(ticket)&confirmed=1")
        #expect(again.status == 422)
        #expect(again.text.contains("has to be chosen again"))
    }

    @Test("A file that is sent with a form that is refused need not be chosen again")
    func keptFile() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let sent = Data("some bytes".utf8)
        let refused = multipart(
            shelf, "/edit/Book/1",
            [("name=\"v.pages\"", Data("many".utf8)), ("name=\"f.data\"; filename=\"a.bin\"", sent)])
        #expect(refused.status == 422)
        let kept = try #require(refused.text.firstMatch(of: /name="u.data" value="([a-z2-7]+)" checked/))
        #expect(shelf.post("/edit/Book/1", "v.pages=7&u.data=\(kept.1)&confirmed=1").status == 303)
        #expect(bytes(shelf) == sent)
        let gone = shelf.post("/edit/Book/1", "v.pages=many&u.data=\(kept.1)")
        #expect(!gone.text.contains("u.data"))
    }

    @Test("Bytes that are JSON are typed as JSON")
    func json() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let hex = Data("{\"a\":1}".utf8).map { String($0, radix: 16) }.joined()
        #expect(shelf.post("/edit/Book/1", "v.data=\(hex)&confirmed=1").status == 303)
        #expect(shelf.get("/edit/Book/1").text.contains("{\n  &quot;a&quot;: 1\n}</textarea>"))
        #expect(shelf.post("/edit/Book/1", "v.data=%7B%22a%22%3A2%7D&confirmed=1").status == 303)
        #expect(bytes(shelf) == Data("{\"a\":2}".utf8))
        #expect(shelf.post("/edit/Book/1", "v.data=%7B&confirmed=1").text.contains("needs JSON"))
        #expect(shelf.post("/edit/Book/1", "v.data=x&n.data=on&confirmed=1").status == 303)
        #expect(count(shelf, "data == nil") == "{\"count\": 1}")
    }

    @Test("The files that wait are the latest ones")
    func shelf() {
        let uploads = PendingUploads()
        let first = uploads.keep(Data(count: 10))
        let tickets = (0..<5).map { _ in uploads.keep(Data(count: 16 << 20)) }
        #expect(uploads.file(first) == nil)
        #expect(tickets.map { uploads.file($0) != nil } == [false, true, true, true, true])
        uploads.drop(tickets[4])
        #expect(uploads.file(tickets[4]) == nil)
    }

    @Test("The fields and the files of a form come from one reading")
    func fieldsAndFiles() {
        let body =
            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\nbytes\r\n--b--\r\n"
        let request = HTTPRequest(
            "POST", "/", headers: ["content-type": "multipart/form-data; boundary=b"], body: Data(body.utf8))
        let form = request.readForm()
        #expect(form.fields["a"] == "1")
        #expect(form.files == ["f": Data("bytes".utf8)])
    }

    @Test(
        "A form with files is taken apart, whatever is in it",
        arguments: [
            ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--b--\r\n", ["a=1\r\n2"]),
            ("--b\r\ncontent-disposition: form-data; name=x\r\n\r\n\r\n--b--", ["x="]),
            ("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\r\n\r\n--b--\r\n", []),
            ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1", []), ("--b", []), ("", []),
            ("--b\r\nno head\r\n--b--", []), ("--b\r\n\r\n--b--", []),
        ] as [(String, [String])])
    func multipartForms(_ body: String, _ expected: [String]) {
        let request = HTTPRequest(
            "POST", "/", headers: ["content-type": "multipart/form-data; boundary=b"], body: Data(body.utf8))
        let form = request.readForm()
        let text = form.fields.items.filter { !$0.name.contains("--") }.map { "\($0.name)=\($0.value)" }
        #expect(text == expected || (expected.isEmpty && form.fields["a"] == nil))
        #expect(form.files.isEmpty)
    }
}
