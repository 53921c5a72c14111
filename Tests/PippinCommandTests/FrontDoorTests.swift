import CoreData
import ModelFiles
import TestSupport
import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("What a stranger types first")
struct FrontDoorTests {
    private let store: SmallStore

    init() throws { store = try SmallStore() }

    private func mistake(_ query: String) -> String {
        CommandRun("query", store.path, query).errors.split(separator: "\n").first.map(String.init) ?? ""
    }

    @Test("The program alone prints fifteen lines at most, of which one is an example")
    func alone() {
        let run = CommandRun()
        #expect(run.status == 64)
        let lines = run.errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 15, "\(lines.count)")
        #expect(lines.allSatisfy { $0.count <= 120 })
        #expect(run.errors.contains("pippin query books.sqlite 'Book where"))
        #expect(!run.errors.contains("error"))
    }

    @Test(
        "A mistyped command, an entity and a store without a command get a guess",
        arguments: [
            (["qurey", "a"], "there is no command “qurey”; “query” may be meant"),
            (["books.sqlite"], "a command stands before the store: “pippin info books.sqlite” describes it"),
            (["postgresql://u:secret@h/d"], "a command stands before the store: “pippin info URL” describes it"),
        ])
    func guesses(arguments: [String], message: String) {
        #expect(CommandRun(arguments: arguments).errors.hasPrefix("pippin: \(message)\n"))
    }

    @Test("A mistyped entity gets a guess, whichever command has it", arguments: ["query", "export", "dump"])
    func entities(command: String) {
        let arguments =
            command == "dump" ? ["dump", store.path, "--entity", "Boook"] : [command, store.path, "Boook"]
        let run = CommandRun(arguments: arguments)
        #expect(run.status == 1)
        #expect(run.errors.contains("“Boook”; “Book” may be meant"), "\(run.errors)")
    }

    @Test(
        "SQL is answered with the query that finds the same",
        arguments: [
            ("select * from Book", "Book"),
            (
                "SELECT * FROM Book WHERE pages > 10 ORDER BY title LIMIT 5;",
                "Book WHERE pages > 10 ORDER BY title LIMIT 5"
            ),
            (
                "select title, pages from Book where title like '%a%' and author is not null",
                "Book where title like[c] '*a*' and author != nil; --columns title,pages shows only these columns"
            ),
        ])
    func sql(text: String, query: String) {
        #expect(mistake(text) == "pippin: this is SQL; the query is: \(query)")
    }

    @Test("The query that is answered to SQL runs")
    func answer() throws {
        let problem = try #require(SQLText.problem("select * from Book where title like '%emma%' order by pages"))
        let query = try #require(problem.reason.components(separatedBy: "is: ").last)
        let run = CommandRun("query", store.path, query)
        #expect(run.output.hasSuffix("2 objects\n"), "\(run.errors)")
    }

    @Test(
        "SQL that no query says is recognised",
        arguments: [
            "select count(*) from Book group by author", "update Book set pages = 1", "with a as (select 1) select 2",
        ])
    func otherSQL(text: String) {
        #expect(mistake(text).hasPrefix("pippin: this is SQL; a query names an entity and a condition"))
    }

    @Test("An entity with the name of an SQL statement is found")
    func entityNamedSelect() throws {
        #expect(SQLText.problem("Update where id == 1") == nil)
        #expect(SQLText.problem("select") == nil)
    }

    @Test(
        "A text without quotation marks is named, with those that it needs",
        arguments: [
            ("Book where title = Emma", "a text stands in quotation marks: \"Emma\""),
            (
                "Book where author.name == Jane Austen and pages > 1",
                "a text stands in quotation marks: \"Jane Austen\""
            ),
            ("Book where title contains[cd] emma", "a text stands in quotation marks: \"emma\""),
        ])
    func unquoted(query: String, message: String) { #expect(mistake(query) == "pippin: \(message)") }

    @Test("A date without quotation marks is not a difference of numbers")
    func unquotedDate() throws {
        let dated = try SmallStore { model in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = ("published", .dateAttributeType, true)
            model.entitiesByName["Book"]?.properties.append(attribute)
        }
        let run = CommandRun("query", dated.path, "Book where published >= 2024-05-01")
        #expect(run.errors.hasPrefix("pippin: a date stands in quotation marks: \"2024-05-01\"\n"))
        #expect(CommandRun("query", dated.path, "Book where published >= \"2024-05-01\"").status == 0)
    }

    @Test(
        "Valid conditions stay so",
        arguments: ["title == author.name", "title = nil", "lowercase(title) == lowercase(title)", "pages - 1 > 2"])
    func valid(condition: String) {
        let run = CommandRun("query", store.path, "Book where \(condition)")
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test("A query of several arguments is written as one")
    func words() {
        let run = CommandRun("query", "a", "Book", "where", "pages > 1")
        #expect(
            run.errors.hasPrefix(
                "pippin: the query is one argument, in quotation marks: pippin query STORE 'Book where pages > 1'\n"))
    }

    @Test("A relationship that nobody wrote is marked with the one that implies it")
    func implied() {
        var relationship = RelationshipDocument()
        (relationship.destinationName, relationship.inverseName) = ("Book", "author")
        #expect(relationship.impliedBy("authorOfBook") == "Book.author")
        #expect(relationship.impliedBy("books") == nil)
    }
}
