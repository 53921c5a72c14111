import Foundation
import StoreReading
import Testing

@testable import PippinShell

@Suite("The shell")
struct ShellTests {
    @Test("Lines are queries, or words that begin with a dot")
    func lines() throws {
        #expect(try ShellLine("Book limit 3") == .query("Book limit 3"))
        #expect(try ShellLine("  ") == .nothing)
        #expect(try ShellLine(".format csv") == .format(.csv))
        #expect(try ShellLine(".format\tcsv ") == .format(.csv))
        #expect(try ShellLine(" quit\t") == .quit)
        #expect(try ShellLine("help ") == .help)
        #expect(try ShellLine(".describe Book") == .describe("Book"))
        #expect(throws: ShellLine.Mistake(message: "there is no “.entites”; “.entities” may be meant")) {
            try ShellLine(".entites")
        }
        #expect(throws: ShellLine.Mistake.self) { try ShellLine(".format exe") }
    }

    @Test(
        "Entities, keys and operators are completed",
        arguments: [
            ("Bo", ["Book"]), (".de", [".describe"]), ("Book wh", ["where"]), ("Book where tit", ["title"]),
            ("Book where author.na", ["name"]),
            (".describe Au", ["Author"]), (".format j", ["json", "jsonl"]), ("Nothing where ti", []),
        ] as [(String, [String])])
    func completion(_ text: String, _ expected: [String]) throws {
        let layout = try Shelf(count: 1).session.store.layout
        #expect(ShellLine.completions(text, layout) == expected)
    }

    @Test("What is typed is read as UTF-8, also in an environment that names no such locale")
    func characters() {
        setlocale(LC_CTYPE, "C")
        LineEditor.readUTF8()
        #expect(mblen("ü", 2) == 2)
    }

    @Test("What stands before the cursor is completed, whatever characters it has")
    func cursor() {
        let typed = "Book where title == \"ü👍\" and pri"
        #expect(LineEditor.beginning(of: typed + " == 3", to: 32) == typed)
    }

    @Test("An answer can be stopped, and the next line is answered")
    func stopping() throws {
        let shelf = try Shelf(count: 3)
        let (store, session, stopping) = (shelf.session.store, Session(shelf.session.store), Stopping())
        #expect(!stopping.stop(), "there is nothing to stop at the prompt")
        var lines = 0
        #expect(throws: Stopping.Stopped.self) {
            _ = try stopping.answering(store) {
                try session.answer("Book") { _ in
                    try stopping.check()
                    lines += 1
                    #expect(stopping.stop())
                    #expect(!stopping.stop(), "who asks twice wants the program to end")
                }
            }
        }
        #expect(lines == 1)
        #expect(try stopping.answering(store) { try session.answer(".entities") { _ in lines += 1 } })
        #expect(lines == 2)
    }

    @Test("A session answers, and goes on after a mistake")
    func session() throws {
        let shelf = try Shelf(count: 3)
        let session = Session(shelf.session.store)
        var output = ""
        #expect(try session.answer(".entities") { output += $0 })
        #expect(output.contains("Book"))
        #expect(throws: TextProblem.self) { try session.answer("Book where titel == 1") { _ in } }
        output = ""
        _ = try session.answer(".format jsonl") { _ in }
        _ = try session.answer("Book order by pages desc limit 1") { output += $0 }
        #expect(output.contains("\"pages\": 3"))
        #expect(try !session.answer(".quit") { _ in })
    }
}
