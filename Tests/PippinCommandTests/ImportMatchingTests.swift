import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin import: objects that are known, and columns of other names")
struct ImportMatchingTests {
    private let store: SmallStore

    init() throws { store = try SmallStore() }

    private func run(_ text: String, _ entity: String, _ options: String..., format: String = "csv") throws
        -> CommandRun
    {
        let file = store.folder.file("file.\(format)")
        try text.write(to: file, atomically: true, encoding: .utf8)
        return CommandRun(arguments: ["import", store.path, entity, file.path] + options)
    }

    private func rows(_ sql: String) throws -> [String] { try plainSQL(sql, in: store.folder.store) }

    private let writers = """
        SELECT b.ZTITLE || ' by ' || IFNULL(a.ZNAME, '?') FROM ZBOOK b LEFT JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR
        WHERE b.Z_PK > 3 ORDER BY b.Z_PK
        """

    @Test("A related object is found by its unique value", arguments: ["csv", "json", "jsonl"])
    func uniqueValue(format: String) throws {
        let text =
            switch format {
            case "csv": "title,author\nSanditon,Jane Austen\nBeowulf,\n"
            case "json": #"[{"title": "Sanditon", "author": "Jane Austen"}, {"title": "Beowulf", "author": null}]"#
            default: "{\"title\": \"Sanditon\", \"author\": \"Jane Austen\"}\n{\"title\": \"Beowulf\"}\n"
            }
        let run = try run(text, "Book", format: format)
        #expect(run.output == "2 objects of “Book” added\n", "\(run.errors)")
        #expect(try rows(writers) == ["Sanditon by Jane Austen", "Beowulf by ?"])
    }

    @Test("A column with a path finds a related object by that attribute")
    func path() throws {
        let run = try run("title,author.name\nSanditon,Jane Austen\n", "Book")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try rows(writers) == ["Sanditon by Jane Austen"])
    }

    @Test("A value that no object has is named, with the attribute that was looked at; nothing is added")
    func unknownValue() throws {
        let run = try run("title,author\nA,Jane Austen\nB,Jane Asten\n", "Book")
        #expect(run.status == 1)
        #expect(
            run.errors
                == "pippin: file.csv, line 3: “author” is “Jane Asten”, which is not an object of the store, nor the “name” of one\n"
        )
        #expect(try rows("SELECT COUNT(*) FROM ZBOOK") == ["3"])
    }

    @Test("A value that several objects have is not guessed")
    func ambiguousValue() throws {
        let store = try SmallStore { $0.entitiesByName["Author"]?.uniquenessConstraints = [] }
        let file = store.folder.file("authors.csv")
        try "name\nJane Austen\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(CommandRun("import", store.path, "Author", file.path).status == 0)
        try "title,author.name\nA,Jane Austen\n".write(to: file, atomically: true, encoding: .utf8)
        let run = CommandRun("import", store.path, "Book", file.path)
        #expect(
            run.errors
                == "pippin: authors.csv, line 2: “author” is “Jane Austen”, which 2 objects of “Author” have as their “name”\n"
        )
    }

    @Test("--update changes the object with the same unique values, and adds the others")
    func update() throws {
        let refused = try run("name\nJane Austen\n", "Author")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("--update changes the one in the store"))
        let run = try run("name\nJane Austen\nMary Shelley\n", "Author", "--update")
        #expect(run.output == "1 object of “Author” added, 1 changed\n", "\(run.errors)")
        #expect(try rows("SELECT Z_PK || ' ' || ZNAME FROM ZAUTHOR ORDER BY 1") == ["1 Jane Austen", "2 Mary Shelley"])
    }

    @Test("--update keeps the values that the file does not have, also required ones", arguments: [false, true])
    func keeps(isThroughContext: Bool) throws {
        let store = try SmallStore { model in
            guard let book = model.entitiesByName["Book"] else { return }
            book.uniquenessConstraints = [["title"]]
            book.attributesByName["pages"]?.isOptional = false
            // An order is kept by a context only.
            if isThroughContext { model.entitiesByName["Author"]?.relationshipsByName["books"]?.isOrdered = true }
        }
        let file = store.folder.file("books.csv")
        try "title,author\nPersuasion,Jane Austen\n".write(to: file, atomically: true, encoding: .utf8)
        let run = CommandRun("import", store.path, "Book", file.path, "--update")
        #expect(run.output == "0 objects of “Book” added, 1 changed\n", "\(run.errors)")
        #expect(
            try plainSQL(
                "SELECT ZPAGES || ' ' || ZAUTHOR FROM ZBOOK WHERE ZTITLE = 'Persuasion'", in: store.folder.store)
                == ["249 1"])
        try "title\nSanditon\n".write(to: file, atomically: true, encoding: .utf8)
        let new = CommandRun("import", store.path, "Book", file.path, "--update")
        #expect(new.status == 1)
        #expect(new.errors.contains("pages"), "\(new.errors)")
    }

    @Test("--update needs values by which objects are known")
    func nothingUnique() throws {
        let run = try run("title\nEmma\n", "Book", "--update")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("pippin: “Book” has no unique values"))
    }

    @Test("Columns of other names are mapped, or left out")
    func names() throws {
        let text = "Titel,Autor,Notiz\nSanditon,Jane Austen,x\n"
        let refused = try run(text, "Book")
        #expect(
            refused.errors
                == "pippin: file.csv, line 2: “Book” has no property “Titel”; “title” may be meant; --map NAME=PROPERTY gives it another name, and --ignore NAME leaves it out\n"
        )
        let run = try run(text, "Book", "--map", "Titel=title,Autor=author.name", "--ignore", "Notiz")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try rows(writers) == ["Sanditon by Jane Austen"])
        #expect(try self.run(text, "Book", "--map=Titel=title", "--ignore=*").status == 0)
    }

    @Test("A name that the file does not have is refused, and nothing is added")
    func missingNames() throws {
        let run = try run("title\nSanditon\n", "Book", "--ignore", "titel")
        #expect(run.status == 1)
        #expect(
            run.errors == "pippin: the file has no “titel”, which --ignore names; “title” may be meant\n")
        #expect(try rows("SELECT COUNT(*) FROM ZBOOK") == ["3"])
        #expect(try self.run("title\nA\n", "Book", "--map", "title").status == 64)
    }

    @Test("Cells with quotation marks and line breaks are read whole, however long they are")
    func cells() throws {
        let long = String(repeating: "Emma, \"again\"\n", count: 30_000)
        let cell = long.replacing("\"", with: "\"\"")
        let run = try run("title,pages\n\"\(cell)\",1\nA \"quoted\" word,2\r\n\"\",3\n", "Book")
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            try rows("SELECT LENGTH(ZTITLE) || ' ' || ZPAGES FROM ZBOOK WHERE Z_PK > 3 ORDER BY Z_PK") == [
                "\(long.count) 1", "15 2", "0 3",
            ])
    }
}
