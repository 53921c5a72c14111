import CoreData
import HTTPMessages
import SQLiteConnection
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("Editing in the browser what others change, too")
struct EditingTogetherTests {
    /// What a browser sends for a form, with what somebody has typed.
    private func form(of page: HTTPResponse, _ typed: [String: String] = [:]) -> String {
        let text = page.text
        var fields: [(String, String)] = []
        for match in text.matches(of: /<input ([^>]*)>/) {
            let tag = String(match.1)
            guard let name = tag.firstMatch(of: /name="([^"]*)"/), !tag.contains("type=\"file\""),
                !tag.contains("type=\"checkbox\"") || tag.contains(" checked")
            else { continue }
            fields.append((String(name.1), String(tag.firstMatch(of: /value="([^"]*)"/)?.1 ?? "on")))
        }
        for match in text.matches(of: /<textarea [^>]*name="([^"]*)"[^>]*>\n([^<]*)</) {
            fields.append((String(match.1), String(match.2)))
        }
        return fields.map { "\(Address.encoded($0))=\(Address.encoded(typed[$0] ?? $1))" }.joined(separator: "&")
    }

    private func others(_ shelf: Shelf, _ change: String) throws {
        try execute("UPDATE ZBOOK SET \(change), Z_OPT = Z_OPT + 1 WHERE Z_PK = 1", in: shelf.folder.store)
    }

    private func book(_ shelf: Shelf) throws -> [String] {
        try plainSQL("SELECT ZTITLE, ZPAGES, ZAUTHOR FROM ZBOOK WHERE Z_PK = 1", in: shelf.folder.store)
    }

    @Test("What somebody else has changed since the form was opened is not a change of this form")
    func openedBefore() throws {
        let shelf = try Shelf(count: 2, isWritable: true)
        let page = shelf.get("/edit/Book/1")
        try others(shelf, "ZTITLE = 'Other', ZAUTHOR = 1")
        let question = shelf.post("/edit/Book/1", form(of: page, ["v.pages": "7"]))
        #expect(question.text.contains("<ins>7</ins>"))
        #expect(!question.text.contains("<del>Other</del>"))
        #expect(question.text.contains("Somebody else has changed it"))
        #expect(shelf.post("/edit/Book/1", form(of: question)).status == 303)
        #expect(try book(shelf) == ["Other|7|1"])
        #expect(shelf.post("/edit/Book/1", form(of: page)).status == 303, "nothing was typed")
        #expect(try book(shelf) == ["Other|7|1"])
    }

    @Test("Who changes what somebody else has changed, too, is shown that")
    func sameValue() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let page = shelf.get("/edit/Book/1")
        try others(shelf, "ZTITLE = 'Other'")
        let question = shelf.post("/edit/Book/1", form(of: page, ["v.title": "Mine"]))
        #expect(question.text.contains("<del>Other</del>"))
        #expect(question.text.contains("<ins>Mine</ins>"))
        #expect(question.text.contains("Somebody else has changed it"))
    }

    @Test("A store that another program has locked is not waited for silently")
    func locked() throws {
        let shelf = try Shelf(count: 1, isWritable: true, patience: 0.2)
        let connection = try Connection(path: shelf.folder.store.path, mode: .readWrite)
        try connection.execute("BEGIN IMMEDIATE")
        let refused = shelf.post("/edit/Book/1", "v.title=Mine&confirmed=1")
        #expect(refused.status == 422)
        #expect(refused.text.contains("Another program has locked the store."))
        #expect(refused.text.contains("value=\"Mine\""), "what was typed is there still")
        #expect(shelf.post("/delete/Book/1").status == 422)
        try connection.execute("ROLLBACK")
        #expect(shelf.post("/edit/Book/1", "v.title=Mine&confirmed=1").status == 303)
        #expect(try book(shelf) == ["Mine|1|"])
        try connection.execute("BEGIN IMMEDIATE")
        #expect(shelf.post("/undo").text.contains("Another program has locked the store."))
        try connection.execute("ROLLBACK")
        #expect(shelf.post("/undo").status == 303)
        #expect(try book(shelf) == ["Title 1|1|"], "it can be taken back still")
    }

    @Test("What the store rounds is taken back, too: nobody else has changed it")
    func rounded() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let former = try plainSQL("SELECT ZPRICE FROM ZBOOK", in: shelf.folder.store)
        #expect(shelf.post("/edit/Book/1", "v.price=0.12345678901234567890&confirmed=1").status == 303)
        #expect(try plainSQL("SELECT ZPRICE > 0.1234 AND ZPRICE < 0.1235 FROM ZBOOK", in: shelf.folder.store) == ["1"])
        #expect(shelf.post("/undo").status == 303)
        #expect(try plainSQL("SELECT ZPRICE FROM ZBOOK", in: shelf.folder.store) == former)
    }

    @Test("A value typed where “none” stays checked, as it does without scripts, is asked about")
    func typedBesideNone() throws {
        let shelf = try Shelf(count: 4, isWritable: true)
        let page = shelf.get("/edit/Book/4")
        let refused = shelf.post("/edit/Book/4", form(of: page, ["v.price": "7"]))
        #expect(refused.status == 422)
        #expect(refused.text.contains("uncheck “none”"))
        #expect(refused.text.contains("name=\"v.price\" value=\"7\""), "what was typed is there still")
    }

    @Test("An empty text takes the place of none where “none” is unchecked")
    func emptyText() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        try execute("UPDATE ZBOOK SET ZTITLE = NULL, ZPRICE = NULL", in: shelf.folder.store)
        let sent = ["title", "price"].reduce(form(of: shelf.get("/edit/Book/1"))) {
            $0.replacing("n.\($1)=on", with: "")
        }
        #expect(shelf.post("/edit/Book/1", sent).text.contains("<ins>an empty text</ins>"))
        #expect(shelf.post("/edit/Book/1", sent + "&confirmed=1").status == 303)
        #expect(try plainSQL("SELECT ZTITLE = '', ZPRICE IS NULL FROM ZBOOK", in: shelf.folder.store) == ["1|1"])
    }

    @Test("None that was set to none by the form is a change, and none that stays is not")
    func none() throws {
        let shelf = try Shelf(count: 4, isWritable: true)
        let page = shelf.get("/edit/Book/4")
        try execute("UPDATE ZBOOK SET ZPRICE = 5 WHERE Z_PK = 4", in: shelf.folder.store)
        #expect(shelf.post("/edit/Book/4", form(of: page) + "&confirmed=1").status == 303)
        #expect(try plainNumber("SELECT ZPRICE FROM ZBOOK WHERE Z_PK = 4", in: shelf.folder.store) == 5)
        let again = shelf.get("/edit/Book/4")
        #expect(shelf.post("/edit/Book/4", form(of: again) + "&n.price=on&confirmed=1").status == 303)
        #expect(try plainNumber("SELECT ZPRICE FROM ZBOOK WHERE Z_PK = 4", in: shelf.folder.store) == nil)
    }

    @Test("Marks of direction and control characters are edited as they are")
    func marks() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        let question = shelf.post("/edit/Book/1", "v.title=%D7%A9%E2%80%8F%21%01")
        #expect(question.text.contains("<ins>ש\u{FFFD}!\u{2401}</ins>"), "shown without effect on what is around")
        #expect(question.text.contains("name=\"v.title\" value=\"ש\u{200F}!\u{1}\""))
        #expect(shelf.post("/edit/Book/1", form(of: question)).status == 303)
        #expect(try book(shelf) == ["ש\u{200F}!\u{1}|1|"])
        let page = shelf.get("/edit/Book/1")
        #expect(shelf.post("/edit/Book/1", form(of: page, ["v.pages": "2"]) + "&confirmed=1").status == 303)
        #expect(try book(shelf) == ["ש\u{200F}!\u{1}|2|"])
        try others(shelf, "ZTITLE = 'a' || char(13) || 'b'")
        let lone = shelf.post("/edit/Book/1", form(of: shelf.get("/edit/Book/1"), ["v.title": "a\u{240D}c"]))
        #expect(shelf.post("/edit/Book/1", form(of: lone)).status == 303)
        #expect(try book(shelf) == ["a\rc|2|"])
    }

    // MARK: Undo

    @Test("A change is not taken back where somebody else has changed the same value since")
    func undoAfterOthers() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        #expect(shelf.post("/edit/Book/1", "v.title=B&confirmed=1").status == 303)
        try others(shelf, "ZTITLE = 'C'")
        #expect(shelf.post("/edit/Book/1", "v.pages=9&confirmed=1").status == 303)
        #expect(shelf.post("/undo").status == 303)
        #expect(try book(shelf) == ["C|1|"])
        let refusal = shelf.post("/undo")
        #expect(refusal.status == 409)
        #expect(refusal.text.contains("Book/p1, title"))
        #expect(try book(shelf) == ["C|1|"])
        #expect(shelf.session.editor?.undoable == nil)
    }

    @Test("A change is taken back where somebody else has changed other values since")
    func undoBesideOthers() throws {
        let shelf = try Shelf(count: 2, isWritable: true)
        #expect(shelf.post("/edit/Book/1", "v.title=B&r.author=1&confirmed=1").status == 303)
        try others(shelf, "ZPAGES = 99")
        #expect(shelf.post("/undo").status == 303)
        #expect(try book(shelf) == ["Title 1|99|"])
    }

    @Test("The button takes back the change that it names, and no other")
    func undoOfAnother() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        #expect(shelf.post("/edit/Book/1", "v.title=B&confirmed=1").status == 303)
        let number = try #require(shelf.get("/").text.firstMatch(of: /name="change" value="(\d+)"/)?.1)
        #expect(shelf.post("/edit/Book/1", "v.pages=9&confirmed=1").status == 303)
        #expect(shelf.post("/undo", "change=\(number)").status == 409)
        #expect(try book(shelf) == ["B|9|"])
        #expect(shelf.post("/undo").status == 303)
        #expect(shelf.post("/undo", "change=\(number)").status == 303)
        #expect(try book(shelf) == ["Title 1|1|"])
    }

    @Test("As many changes can be taken back as the button offers")
    func manyUndos() throws {
        let shelf = try Shelf(count: 1, isWritable: true)
        for pages in 2...104 { #expect(shelf.post("/edit/Book/1", "v.pages=\(pages)&confirmed=1").status == 303) }
        var count = 0
        while shelf.session.editor?.undoable != nil, count < 200 {
            #expect(shelf.post("/undo").status == 303)
            count += 1
        }
        #expect(count == 100)
        #expect(try book(shelf) == ["Title 1|4|"])
    }

    // MARK: Exports

    @Test("All objects of a relationship are exported, and the page says that it has the first of them")
    func manyDestinations() throws {
        let shelf = try Shelf(count: 1)
        try execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 40099)
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZTITLE)
            SELECT i, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, 1, 'T' FROM n
            """, in: shelf.folder.store)
        let target = "/Book?of=Author%2F1%2Fbooks"
        #expect(shelf.get("/entity" + target).text.contains("the first 10000 of them"))
        guard case .stream(let stream) = shelf.get("/export\(target)&format=jsonl").body else {
            Issue.record("no stream")
            return
        }
        var lines = 0
        while let piece = try stream.next() { lines += piece.count { $0 == 0x0A } }
        #expect(lines == 40_000)
    }
}
