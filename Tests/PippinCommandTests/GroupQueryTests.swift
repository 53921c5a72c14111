import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin query with numbers in place of objects")
struct GroupQueryTests {
    private func output(_ query: String, _ more: String..., status: Int32 = 0) throws -> String {
        let store = try SmallStore()
        let run = CommandRun(arguments: ["query", store.path, query] + more)
        #expect(run.status == status, "\(run.errors)")
        return status == 0 ? run.output : run.errors
    }

    @Test("count before the entity counts the objects that a condition holds for")
    func count() throws {
        #expect(try output("count Book where pages > 100", "--format", "csv") == "count\r\n2\r\n")
        #expect(try output("count Book", "--format", "jsonl") == "{\"count\": 3}\n")
        #expect(try output("count Book search emma", "--format", "csv") == "count\r\n2\r\n")
        let ordered = try output("count Book order by title", status: 1)
        #expect(ordered.contains("the number of objects is one, and has no order"))
    }

    @Test("Groups have what their objects share, and what is computed of each; without a value comes first")
    func groups() throws {
        #expect(
            try output("Book group by author.name: count, sum(pages), average(pages), min(title)", "--format", "csv")
                == """
                author.name,count,sum(pages),average(pages),min(title)\r
                ,1,249,249.0,Persuasion\r
                Jane Austen,2,486,243.0,Emma\r

                """)
    }

    @Test("Groups are counted if nothing is said, and those of a relationship are its objects")
    func objects() throws {
        let lines = try output("Book group by author order by count desc", "--format", "csv").split(separator: "\r\n")
        #expect(lines.count == 3)
        #expect(lines[1].hasSuffix(",2") && lines[1].contains("/Author/p1"))
        #expect(lines[2] == ",1")
    }

    @Test("A condition on groups may name what is computed, also what no column shows")
    func having() throws {
        for condition in ["count > 1", "sum(pages) > 300", "count > 1 and author.name == \"Jane Austen\""] {
            let found = try output("Book group by author.name: max(pages) having \(condition)", "--format", "csv")
            #expect(found == "author.name,max(pages)\r\nJane Austen,474\r\n", "\(condition)")
        }
    }

    @Test("An order, a limit and an offset are those of the groups")
    func order() throws {
        let query = "Book where pages > 0 group by title: sum(pages) order by sum(pages) desc"
        func titles(_ more: String) throws -> [Substring] {
            try output(query + more, "--format", "csv").split(separator: "\r\n").dropFirst().map { $0 }
        }
        #expect(try titles("") == ["Emma,474", "Persuasion,249", "\"Emma, \"\"again\"\"\",12"])
        #expect(try titles(" limit 1 offset 1") == ["Persuasion,249"])
        #expect(try titles(" limit 0") == [])
    }

    @Test(
        "What cannot be grouped, computed or ordered is named at its place",
        arguments: [
            ("Book group by", "a property is missing"),
            ("Book group by autor", "“Book” has no property “autor”"),
            ("Author group by books", "“books” leads to several objects"),
            ("Book group by author: sum(title)", "“title” is not a number"),
            ("Book group by author: median(pages)", "“count”, or “sum”"),
            ("Book group by author: count(pages)", "“count”, or “sum”"),
            ("Book group by author: count order by pages", "the groups have no column “pages”"),
            ("Book group by author: count having pages > 3", "“pages” is not a property that the objects of a group"),
            ("count Book group by author", "groups count by"),
        ])
    func problems(_ query: String, _ reason: String) throws {
        let errors = try output(query, status: 1)
        #expect(errors.contains(reason), "\(errors)")
    }
}
