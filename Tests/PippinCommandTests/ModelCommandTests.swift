import CoreData
import TestSupport
import Testing
@testable import StoreReading

@testable import PippinCommand

@Suite("pippin model")
struct ModelCommandTests {
    @Test("A package whose current version is missing is compiled without saying which is current")
    func compiledWithoutCurrent() throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let package = folder.appendingPathComponent("Books.xcdatamodeld")
            #expect(CommandRun("model", "extract", store.path, "--output", package.path).status == 0)
            let list = """
                <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>_XCCurrentVersionName</key>
                <string>Gone.xcdatamodel</string></dict></plist>
                """
            try Data(list.utf8).write(to: package.appendingPathComponent(".xccurrentversion"))
            let compiled = folder.appendingPathComponent("Books.momd")
            let run = CommandRun("model", "compile", package.path, "--output", compiled.path)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.contains("its current version, “Gone”, does not exist"))
            #expect(run.output.contains("has 1 version."))
            let one = CommandRun("model", "compile", package.path, "--output", folder.path + "/Books.mom")
            #expect(one.status == 1)
        }
    }

    private static let first = """
        <model userDefinedModelVersionIdentifier="1">
            <entity name="Thing" isAbstract="YES"><attribute name="id" attributeType="UUID"/></entity>
            <entity name="Book" representedClassName="Book" parentEntity="Thing" codeGenerationType="class">
                <attribute name="title" optional="YES" attributeType="String"/>
                <relationship name="authors" optional="YES" toMany="YES" destinationEntity="Author" inverseName="books"/>
            </entity>
            <entity name="Author" parentEntity="Thing">
                <attribute name="name" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="authors"/>
            </entity>
        </model>
        """

    /// Writes models into a folder of their own, and gives the paths to the test.
    private func withModels(_ models: [String], _ body: (URL, [String]) throws -> Void) throws {
        try inTestFolder { folder in
            let paths = try models.enumerated().map { number, text in
                let url = folder.appendingPathComponent("V\(number + 1).xcdatamodel")
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
                try text.write(to: url.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
                return url.path
            }
            try body(folder, paths)
        }
    }

    @Test("A package of which the current version does not exist has the others; validate says that it is wrong")
    func missingCurrentVersion() throws {
        let store = try SmallStore()
        let package = store.folder.file("Shop.xcdatamodeld")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        let version = package.appendingPathComponent("Shop.xcdatamodel")
        #expect(CommandRun("model", "extract", store.path, "--output", version.path).status == 0)
        let other = package.appendingPathComponent("Shop 2.xcdatamodel")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try Data(Self.first.utf8).write(to: other.appendingPathComponent("contents"))
        try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "Shop 3.xcdatamodel"], format: .xml, options: 0
        ).write(to: package.appendingPathComponent(".xccurrentversion"))
        let wrong = "its current version, “Shop 3”, does not exist; there are Shop, Shop 2"
        let described = CommandRun("model", "describe", package.path, "--version", "Shop 2")
        #expect(described.status == 0 && described.output.contains("Thing"), "\(described.errors)")
        #expect(CommandRun("model", "describe", package.path).errors.contains(wrong))
        let validated = CommandRun("model", "validate", package.path)
        #expect(validated.status == 1 && validated.output.contains(wrong), "\(validated.output)")
        #expect(validated.output.contains("version “Shop 2”: 3 entities"), "\(validated.output)")
        // The version that fits a store is found all the same.
        try execute("DELETE FROM Z_MODELCACHE", in: store.folder.store)
        let query = CommandRun("query", store.path, "Book where pages == 474", "--model", package.path)
        #expect(query.status == 0 && query.output.contains("Emma"), "\(query.errors)")
    }

    @Test("diff says that equal models are equal, and what needs no migration")
    func diffWithoutMigration() throws {
        let other = Self.first.replacing("representedClassName=\"Book\"", with: "representedClassName=\"Volume\"")
        try withModels([Self.first, other]) { _, paths in
            let same = CommandRun("model", "diff", paths[0], paths[0])
            #expect(
                same.output
                    == "V1.xcdatamodel → V1.xcdatamodel\n\nThe models say the same.\n\nStores need no migration.\n")
            let renamed = CommandRun("model", "diff", paths[0], paths[1])
            #expect(renamed.status == 0)
            #expect(
                renamed.output
                    == "V1.xcdatamodel → V2.xcdatamodel\n\n~ entity Book: class Book → Volume\n\nStores need no migration.\n"
            )
        }
    }

    @Test("describe says what is there for Spotlight")
    func spotlight() throws {
        let model = """
            <model><entity name="Book" coreSpotlightDisplayNameExpression="title">
            <attribute name="title" attributeType="String" spotlightIndexingEnabled="YES"/></entity></model>
            """
        try withModels([model, model]) { _, paths in
            let run = CommandRun("model", "describe", paths[0])
            #expect(run.output.contains("Book   has a name for Spotlight\n"), "\(run.output)")
            #expect(run.output.contains("title   String   for Spotlight\n"), "\(run.output)")
        }
    }

    @Test("describe names the file that was asked for, and the one that is read in its place")
    func optimized() throws {
        try withModels([Self.first, Self.first]) { folder, paths in
            let package = folder.appendingPathComponent("Books.momd")
            #expect(CommandRun("model", "compile", paths[0], "--output", package.path).status == 0)
            let optimized = package.appendingPathComponent("V1.omo")
            try Data("optimized".utf8).write(to: optimized)
            let run = CommandRun("model", "describe", optimized.path)
            #expect(run.output.hasPrefix("V1.omo, read from V1.mom\n"), "\(run.output)\(run.errors)")
        }
    }

    @Test("diff names changes that mean nothing to a store: the name for Spotlight, compound indexes")
    func diffOfNames() throws {
        let entity =
            "<model><entity name=\"Book\"%1><attribute name=\"title\" attributeType=\"String\"/>"
            + "<attribute name=\"year\" attributeType=\"Date\"/>%2</entity></model>"
        func model(_ attributes: String, _ elements: String) -> String {
            entity.replacing("%1", with: attributes).replacing("%2", with: elements)
        }
        let indexes =
            "<compoundIndexes><compoundIndex><index value=\"title\"/><index value=\"year\"/></compoundIndex>"
            + "</compoundIndexes>"
        for (attributes, elements, phrase) in [
            (" coreSpotlightDisplayNameExpression=\"title\"", "", "name for Spotlight changed"),
            ("", indexes, "compound indexes changed"),
        ] {
            try withModels([model("", ""), model(attributes, elements)]) { _, paths in
                let run = CommandRun("model", "diff", paths[0], paths[1])
                #expect(run.output.contains("~ entity Book: \(phrase)\n"), "\(run.output)")
            }
        }
    }

    @Test("diff names the fetch requests and configurations that say something else under the same names")
    func diffOfContents() throws {
        func model(_ predicate: String, _ members: String) -> String {
            Self.first.replacing(
                "</model>",
                with: "<fetchRequest name=\"all\" entity=\"Author\" predicateString=\"\(predicate)\"/>"
                    + "<configuration name=\"Local\">\(members)</configuration></model>")
        }
        let (author, book) = ("<memberEntity name=\"Author\"/>", "<memberEntity name=\"Book\"/>")
        let (first, second) = (model("name == &quot;a&quot;", author), model("name == &quot;b&quot;", author + book))
        try withModels([first, second]) { _, paths in
            let run = CommandRun("model", "diff", paths[0], paths[1])
            #expect(run.output.contains("configurations that say something else: Local\n"), "\(run.output)")
            #expect(run.output.contains("fetch requests that say something else: all\n"))
            #expect(!run.output.contains("all → all"))
        }
        try withModels([first, Self.first]) { _, paths in
            let run = CommandRun("model", "diff", paths[0], paths[1])
            #expect(run.output.contains("fetch requests: all → none\n"))
        }
    }

    @Test("diff names every change for which no mapping can be inferred, at once, and what the mapping has to say")
    func diffWithMapping() throws {
        let second = Self.first.replacing(
            "name=\"title\" optional=\"YES\" attributeType=\"String\"", with: "name=\"title\" attributeType=\"Date\""
        )
        .replacing(
            "name=\"authors\" optional=\"YES\" toMany=\"YES\"",
            with: "name=\"author\" optional=\"YES\" maxCount=\"1\" elementID=\"authors\""
        ).replacing("inverseName=\"authors\"", with: "inverseName=\"author\"")
        try withModels([Self.first, second]) { _, paths in
            let run = CommandRun("model", "diff", paths[0], paths[1])
            #expect(run.status == 2)
            #expect(
                run.output == """
                    V1.xcdatamodel → V2.xcdatamodel

                    ~ entity Author
                        ~ books: inverse authors → author
                    ~ entity Book
                        ~ author: was authors, to many → to one
                        ~ title: String → Date, now mandatory

                    No mapping can be inferred. A mapping model has to say:
                      Book.author: which of the objects of “authors” to keep
                      Book.title: how the String “title” becomes a Date: a value expression such as \
                    FUNCTION($entityPolicy, "titleFrom:", $source.title)
                      Book.title: a value for objects that have none

                    """)
        }
    }

    @Test("diff warns of mandatory attributes without a default, whose objects stop the migration")
    func diffWithMissingDefault() throws {
        let second = Self.first.replacing(
            "<attribute name=\"name\"",
            with: "<attribute name=\"born\" attributeType=\"Date\"/><attribute name=\"name\"")
        try withModels([Self.first, second]) { _, paths in
            let run = CommandRun("model", "diff", paths[0], paths[1])
            #expect(run.status == 0)
            #expect(
                run.output.hasSuffix(
                    "Stores migrate by an inferred mapping, in place.\nObjects without a value stop it, since these are "
                        + "mandatory and have no default value:\n  Author.born\n"))
        }
    }

    @Test("validate finds names of which no class can be generated, and generate refuses them")
    func hostileNames() throws {
        try inTestFolder { folder in
            let package = folder.appendingPathComponent("Shop.xcdatamodel")
            try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
            let name = "x: Int { 1 }; public let pwned = system(&quot;id&quot;)"
            try Data(
                """
                <model><entity name="Book" representedClassName="Book" codeGenerationType="class">
                    <attribute name="title" optional="YES" attributeType="Transformable" customClassName="\(name)"/>
                </entity></model>
                """.utf8
            ).write(to: package.appendingPathComponent("contents"))
            let place = "entity “Book”, property “title”: its custom class"
            let validation = CommandRun("model", "validate", package.path)
            #expect(validation.status == 1)
            #expect(validation.output.contains("error: line 2, \(place)"))
            let generation = CommandRun("model", "generate", package.path)
            #expect(generation.status == 1)
            #expect(generation.output.isEmpty)
            #expect(generation.errors.contains("Shop.xcdatamodel/contents”, line 2, \(place)"))
        }
    }

    @Test("validate names the line of an error, goes on with the other versions, and fails")
    func validateErrors() throws {
        try inTestFolder { folder in
            let package = folder.appendingPathComponent("Books.xcdatamodeld")
            for (name, text) in [("A", Self.first), ("B", Self.first.replacing("\"UUID\"", with: "\"Uuid\""))] {
                let version = package.appendingPathComponent("\(name).xcdatamodel")
                try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
                try text.write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
            }
            try "<plist><dict><key>_XCCurrentVersionName</key><string>A.xcdatamodel</string></dict></plist>".write(
                to: package.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)
            let run = CommandRun("model", "validate", package.path)
            #expect(run.status == 1)
            #expect(
                run.output.hasPrefix(
                    "Books.xcdatamodeld, version “A”: 3 entities, no problems.\nBooks.xcdatamodeld, version “B”: wrong.\n  error: "
                ))
            #expect(run.output.contains("line 2, entity “Thing”, property “id”: “Uuid” is not an attribute type"))
            #expect(CommandRun("model", "validate", package.path, "--version", "A").status == 0)
            let missing = CommandRun("model", "validate", package.path, "--version", "C")
            #expect(missing.status == 1)
            #expect(missing.output.contains("there is no version “C”; there are A, B"))
        }
    }

    @Test("validate and compile name file and line of what shows only in the model as a whole")
    func validateWhole() throws {
        let attribute = "<attribute name=\"a\" attributeType=\"Date\"/>"
        let rest = [
            "<entity name=\"Book\">\n\(attribute)\n\(attribute)</entity>":
                "line 4, entity “Book”, property “a”: there are two properties of this name.",
            "<entity name=\"Book\">\n\n<relationship name=\"r\" destinationEntity=\"Gone\"/></entity>":
                "line 4, entity “Book”, property “r”: its destination “Gone” is not an entity of the model.",
            "<entity name=\"Book\"/>\n<entity name=\"Book\"/>":
                "line 3, entity “Book”: there are two entities of this name.",
            "\n<configuration name=\"c\"><memberEntity name=\"Gone\"/></configuration>":
                "line 3: the configuration “c” has the member “Gone”, which is not an entity of the model.",
        ]
        for (text, reason) in rest {
            try withModels(["<model>\n\(text)</model>"]) { folder, paths in
                let run = CommandRun("model", "validate", paths[0])
                #expect(run.status == 1)
                #expect(
                    run.output
                        == "V1.xcdatamodel, version “V1”: wrong.\n  error: “\(paths[0])/contents”, \(reason)\n")
                let output = folder.appendingPathComponent("V1.momd").path
                #expect(
                    CommandRun("model", "compile", paths[0], "--output", output).errors
                        == "pippin: “\(paths[0])/contents”, \(reason)\n")
            }
        }
    }

    @Test("validate shows below the message where a predicate does not parse")
    func validateFormat() throws {
        let request = "<fetchRequest name=\"Old\" entity=\"Book\" predicateString=\"a == == 1\"/>"
        try withModels(["<model><entity name=\"Book\"/>\(request)</model>"]) { _, paths in
            let output = CommandRun("model", "validate", paths[0]).output
            #expect(output.hasSuffix("found \"==\".\n      a == == 1\n           ^\n"), "\(output)")
        }
    }

    @Test("validate says what shows only when a model is used, of derived attributes, constraints, patterns, requests")
    func validateUse() throws {
        func model(_ attribute: String, _ rest: String = "") -> String {
            """
            <model><entity name="Book" representedClassName="Book" syncable="YES">
                <attribute name="title" attributeType="String" optional="YES" \(attribute)/>
                <attribute name="scratch" attributeType="String" optional="YES" transient="YES"/>
                \(rest)</model>
            """
        }
        let derived = #"<attribute name="folded" optional="YES" attributeType="String" derived="YES" "#
        let constraint = "<uniquenessConstraint><constraint value=\"scratch\"/></uniquenessConstraint>"
        let models = [
            model("regularExpressionString=\"([a-z\"", "</entity>"),
            model("", "\(derived) derivationExpression=\"canonical:(titel)\"/></entity>"),
            model("", "<uniquenessConstraints>\(constraint)</uniquenessConstraints></entity>"),
            model("", "</entity><fetchRequest name=\"Old\" entity=\"Book\" predicateString=\"titel == 'x'\"/>"),
            model("spotlightIndexingEnabled=\"perhaps\"", "</entity>"),
        ]
        try withModels(models) { _, paths in
            let runs = paths.map { CommandRun("model", "validate", $0) }
            #expect(runs.map(\.status) == [1, 1, 0, 0, 0])
            #expect(
                runs.map(\.output).joined() == """
                    V1.xcdatamodel: 1 entity, 1 error.
                      error: Book.title: “([a-z” is not a regular expression
                    V2.xcdatamodel: 1 entity, 1 error.
                      error: no store can be made of it: A store in a database cannot compute the derived attribute “Book.folded”, whose expression is \
                    “canonical:(titel)”; it may be an attribute, one behind a to-one relationship, these in canonical:, uppercase: or lowercase:, now(), or \
                    @count, @sum, @min, @max or @avg of a to-many relationship.
                    V3.xcdatamodel: 1 entity, 1 warning.
                      warning: Book: no store enforces the uniqueness constraint “scratch”, since it keeps no value of “scratch”
                    V4.xcdatamodel: 1 entity, 1 warning.
                      warning: fetch request “Old”: Entity “Book” has no property “titel” (in “titel”). It has: scratch, title.
                    V5.xcdatamodel: 1 entity, 1 warning.
                      warning: line 2, entity “Book”, property “title”: spotlightIndexingEnabled is “perhaps”; YES or NO expected. It is taken for NO, \
                    and means nothing to a store

                    """)
        }
    }

    @Test("Names with control characters and line feeds make no commands for the terminal, and no lines of their own")
    func controlCharacters() throws {
        func model(_ name: String) -> String {
            """
            <model><entity name="A&#x9B;2J&#10;forged: yes"><attribute name="b&#10;forged" optional="YES" \
            attributeType="\(name)"/></entity></model>
            """
        }
        try withModels([model("String"), model("Date"), model("Nothing")]) { _, paths in
            let runs = [
                CommandRun("model", "diff", paths[0], paths[1]), CommandRun("model", "validate", paths[0]),
                CommandRun("model", "validate", paths[2]), CommandRun("model", "describe", paths[0]),
                CommandRun("model", "graph", paths[0], "--format", "dot"),
            ]
            for run in runs {
                let lines = run.output.split(separator: "\n")
                #expect(!run.output.isEmpty, "\(run.errors)")
                #expect(!lines.contains { $0.hasPrefix("forged") }, "\(run.output)")
                #expect(!run.output.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
            }
        }
    }

    @Test("validate warns of what is likely to be a mistake; --strict makes that fail")
    func validateWarnings() throws {
        let model = """
            <model><entity name="book">
                <attribute name="Title" attributeType="String"/>
                <attribute name="hash" attributeType="String"/>
                <attribute name="any" attributeType="Transformable"/>
                <relationship name="next" maxCount="1" deletionRule="No Action" destinationEntity="book"/>
            </entity></model>
            """
        try withModels([model]) { _, paths in
            let run = CommandRun("model", "validate", paths[0])
            #expect(run.status == 0)
            #expect(
                run.output == """
                    V1.xcdatamodel: 1 entity, 6 warnings.
                      warning: book: names of entities begin with a capital letter
                      warning: book.Title: names of properties begin with a small letter
                      warning: book.any: without a transformer, values of any class are archived and made again
                      warning: book.hash: every managed object has a property of this name already
                      warning: book.next: the relationship has no inverse, so nothing keeps its other end up to date
                      warning: book.next: the delete rule “No Action” leaves the other end leading to a deleted object

                    """)
            #expect(CommandRun("model", "validate", paths[0], "--strict").status == 1)
        }
    }

    @Test("A relationship whose inverse is that of another has none: validate warns, graph draws both")
    func inverseOfAnother() throws {
        let model = """
            <model>
                <entity name="Artist">
                    <relationship name="cover" optional="YES" maxCount="1" destinationEntity="Image" inverseName="coverOf"/>
                </entity>
                <entity name="Image">
                    <relationship name="artist" optional="YES" maxCount="1" destinationEntity="Artist" inverseName="cover"/>
                    <relationship name="coverOf" optional="YES" maxCount="1" destinationEntity="Artist" inverseName="cover"/>
                </entity>
            </model>
            """
        try withModels([model]) { _, paths in
            #expect(
                CommandRun("model", "validate", paths[0]).output == """
                    V1.xcdatamodel: 2 entities, 1 warning.
                      warning: Image.artist: its inverse “cover” leads back to “coverOf” instead of it, so nothing keeps \
                    its other end up to date

                    """)
            let lines = CommandRun("model", "graph", paths[0]).output.split(separator: "\n").filter {
                $0.contains("headlabel")
            }
            #expect(lines.count == 2)
        }
    }

    @Test("graph writes DOT: boxes with attributes, one line for a relationship and its inverse, arrows to parents")
    func graph() throws {
        try withModels([Self.first]) { folder, paths in
            let dot = CommandRun("model", "graph", paths[0]).output
            #expect(dot.hasPrefix("digraph \"V1.xcdatamodel\" {\n"))
            #expect(dot.contains("    \"Thing\" [label=\"{Thing (abstract)|id: UUID\\l}\"]\n"))
            #expect(dot.contains("    \"Book\" -> \"Thing\" [arrowhead=empty]\n"))
            let lines = dot.split(separator: "\n").filter { $0.contains("headlabel") }
            #expect(
                lines == [
                    "    \"Author\" -> \"Book\" [headlabel=\"*\", taillabel=\"*\", label=\"books / authors\", dir=\"both\", "
                        + "arrowhead=\"vee\", arrowtail=\"vee\"]"
                ])
            let file = folder.appendingPathComponent("a.dot")
            #expect(CommandRun("model", "graph", paths[0], "--output", file.path).status == 0)
            let written = try String(contentsOf: file, encoding: .utf8)
            #expect(written == dot)
        }
    }

    @Test("Graphviz draws SVG and PNG; without it, the error names the package")
    func graphviz() throws {
        let error = #expect(throws: CommandError.self) {
            _ = try Graphviz(path: "").draw("digraph {}", as: .svg)
        }
        #expect(error?.message.contains("apt install graphviz") == true)
        try inTestFolder { folder in
            // A stand-in for the program: it shows what it was asked.
            let program = folder.appendingPathComponent("dot")
            try "#!/bin/sh\n[ \"$1\" = -Tsvg ] || { echo 'bad format' >&2; exit 3; }\ncp \"$4\" \"$3\"\n".write(
                to: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
            let drawing = try Graphviz(path: "/nowhere:\(folder.path)").draw("digraph {}", as: .svg)
            #expect(String(decoding: drawing, as: UTF8.self) == "digraph {}")
            let failure = #expect(throws: CommandError.self) {
                _ = try Graphviz(path: folder.path).draw("digraph {}", as: .png)
            }
            #expect(failure?.message == "“\(program.path)” failed with status 3: bad format")
        }
    }

    @Test("generate writes the classes that the model asks for, or all of them")
    func generate() throws {
        try withModels([Self.first, Self.first.replacing(" codeGenerationType=\"class\"", with: "")]) { folder, paths in
            let some = CommandRun("model", "generate", paths[0]).output
            #expect(some.contains("public class Book: NSManagedObject {"))
            #expect(!some.contains("class Author"))
            let all = CommandRun("model", "generate", paths[1], "--all").output
            #expect(all.contains("public class Book: Thing {"))
            #expect(all.contains("public class Author: Thing {"))
            let none = CommandRun("model", "generate", paths[1])
            #expect(none.status == 1)
            #expect(none.errors.contains("--all"))
            let file = folder.appendingPathComponent("missing/Records.swift").path
            #expect(CommandRun("model", "generate", paths[0], "--output", file).errors.contains("cannot be written"))
        }
    }

    @Test("swiftdata writes a class for each entity, with relationships, rules and values")
    func swiftData() throws {
        let model = """
            <model>
                <entity name="Book">
                    <attribute name="isbn" attributeType="String"/>
                    <attribute name="pages" attributeType="Integer 64" defaultValueString="7" usesScalarValueType="YES"/>
                    <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                    <attribute name="class" optional="YES" attributeType="String" elementID="kind"/>
                    <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/>
                    <uniquenessConstraints><uniquenessConstraint><constraint value="isbn"/></uniquenessConstraint></uniquenessConstraints>
                </entity>
                <entity name="Novel" parentEntity="Book"><attribute name="genre" attributeType="String"/></entity>
                <entity name="Author">
                    <attribute name="name" attributeType="String"/>
                    <relationship name="books" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Book" inverseName="author"/>
                </entity>
            </model>
            """
        try withModels([model, model.replacingOccurrences(of: "Novel", with: "Nov; el")]) { folder, paths in
            let file = folder.appendingPathComponent("Models.swift")
            let run = CommandRun("model", "swiftdata", paths[0], "--output", file.path)
            #expect(run.status == 0 && run.output == "“\(file.path)” is written.\n", "\(run.errors)")
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in [
                "@Model\nfinal class Author {", "    var name: String\n", "@Model\nclass Book {",
                "    @Relationship(deleteRule: .cascade, inverse: \\Book.author) var books: [Book] = []\n",
                "    var author: Author?\n", "    @Attribute(.unique) var isbn: String\n", "    var pages: Int = 7\n",
                "    @Attribute(.externalStorage) var cover: Data?\n",
                "    @Attribute(originalName: \"kind\") var `class`: String?\n", "final class Novel: Book {",
                "        super.init(author: author, `class`: `class`, cover: cover, isbn: isbn)\n",
            ] { #expect(text.contains(line), "\(line) in \(text)") }
            let refused = CommandRun("model", "swiftdata", paths[1])
            #expect(refused.status == 1 && refused.errors.contains("“Nov; el” has a name that Swift does not take"))
        }
    }

    @Test("generate --all writes a class once that several entities have, with the properties of all of them")
    func generateShared() throws {
        let model = """
            <model>
                <entity name="Sub" representedClassName="Thing" parentEntity="Base"><attribute name="b" optional="YES" attributeType="String"/></entity>
                <entity name="Base" representedClassName="Thing"><attribute name="a" attributeType="String"/></entity>
                <entity name="Other" representedClassName="Thing">
                    <attribute name="a" attributeType="String"/><attribute name="c" optional="YES" attributeType="Date"/>
                </entity>
                <entity name="Leaf" representedClassName="Leaf" parentEntity="Sub"/>
            </model>
            """
        try withModels([model, model.replacing("\"c\"", with: "\"b\"")]) { _, paths in
            let run = CommandRun("model", "generate", paths[0], "--all")
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.matches(of: /class Thing: NSManagedObject/).count == 1)
            #expect(run.output.matches(of: /public var (\w+)/).map { String($0.1) } == ["a", "b", "c"])
            #expect(run.output.contains("public class Leaf: Thing {"))
            #expect(!run.output.contains("NSFetchRequest<Thing>"), "it would not say which entity")
            let refused = CommandRun("model", "generate", paths[1], "--all")
            #expect(refused.status == 1)
            #expect(
                refused.errors.contains(
                    "entity “Other”, property “b”: its type is “Date?”; the entity “Base”, which has the same class, has it as “String?”"
                ), "\(refused.errors)")
        }
    }

    @Test("generate makes a file without classes of a model without entities, which projects begin with")
    func generateNothing() throws {
        try withModels(["<model></model>"]) { _, paths in
            for arguments in [[], ["--all"]] {
                let run = CommandRun(arguments: ["model", "generate", paths[0]] + arguments)
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.output.hasSuffix("// No entity of the model has its code generated.\n"))
            }
        }
    }

    @Test("generate writes nothing of a model that is wrong as a whole, and names the place")
    func generateWrong() throws {
        let twice = "<model><entity name='A'/>\n<entity name='A'/></model>"
        let orphan = "<model>\n<entity name='B' parentEntity='Zed'/></model>"
        for (model, reason) in [(twice, "there are two entities"), (orphan, "its parent entity “Zed”")] {
            try withModels([model]) { _, paths in
                let run = CommandRun("model", "generate", paths[0], "--all")
                #expect(run.status == 1)
                #expect(run.output.isEmpty)
                #expect(run.errors.contains(reason) && run.errors.contains("line 2"), "\(run.errors)")
            }
        }
    }

    @Test("generate says how the module of the classes is named")
    func generateForModule() throws {
        let model = Self.first.replacing("representedClassName=\"Book\"", with: "representedClassName=\"App.Book\"")
        try withModels([model]) { _, paths in
            let run = CommandRun("model", "generate", paths[0])
            #expect(run.status == 1)
            #expect(run.errors.contains("such as --module App\n"), "\(run.errors)")
            #expect(CommandRun("model", "generate", paths[0], "--module", "App").status == 0)
        }
    }

    @Test("extract keeps the identifier of the version, beside an empty one of a merged model")
    func extractIdentifier() throws {
        let store = try SmallStore { $0.versionIdentifiers = ["", "3"] }
        let file = store.folder.file("Small.xcdatamodel")
        let run = CommandRun("model", "extract", store.path, "--output", file.path)
        #expect(run.errors.isEmpty)
        let contents = try String(contentsOf: file.appendingPathComponent("contents"), encoding: .utf8)
        #expect(contents.contains("userDefinedModelVersionIdentifier=\"3\""))
    }

    @Test("extract clears up after runs that were ended, and leaves alone what others do")
    func extractLeftovers() throws {
        let store = try SmallStore()
        let file = store.folder.file("Small.xcdatamodel")
        func folder(_ suffix: String = "") throws -> URL {
            let url = store.folder.file(".Small.xcdatamodel-\(UUID().uuidString)\(suffix)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data("text".utf8).write(to: url.appendingPathComponent("contents"))
            return url
        }
        let (leftover, former, busy) = (try folder(), try folder("-former"), try folder())
        let descriptor = open(busy.path, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        #expect(CommandRun("model", "extract", store.path, "--output", file.path, "--force").status == 0)
        #expect(!FileManager.default.fileExists(atPath: leftover.path))
        #expect(!FileManager.default.fileExists(atPath: former.path))
        #expect(FileManager.default.fileExists(atPath: busy.path))
        #expect(try names(in: file) == ["contents"])
    }

    @Test("info says of a model that it does not fit a store without one of its own")
    func unfitting() throws {
        let store = try SmallStore()
        let file = store.folder.file("Small.xcdatamodel")
        #expect(CommandRun("model", "extract", store.path, "--output", file.path).status == 0)
        try execute("DROP TABLE Z_MODELCACHE", in: store.folder.store)
        #expect(!CommandRun("info", store.path, "--model", file.path).output.contains("does not fit"))
        let contents = file.appendingPathComponent("contents")
        let added = "<attribute name=\"isbn\" optional=\"YES\" attributeType=\"String\"/>"
        try String(contentsOf: contents, encoding: .utf8)
            .replacing("<attribute name=\"pages\"", with: "\(added)<attribute name=\"pages\"")
            .write(to: contents, atomically: true, encoding: .utf8)
        let info = CommandRun("info", store.path, "--model", file.path)
        #expect(info.status == 0)
        #expect(info.output.contains("does not fit"), "\(info.output)")
        #expect(info.output.contains("no column ZBOOK.ZISBN"))
    }

    @Test("compile writes a package that is read as the source is, and refuses what is not a source")
    func compile() throws {
        try withModels([Self.first]) { folder, paths in
            let output = folder.appendingPathComponent("Books.momd").path
            let run = CommandRun("model", "compile", paths[0], "--output", output)
            #expect(run.output == "“\(output)” has 1 version.\n")
            #expect(CommandRun("model", "diff", paths[0], output).output.contains("The models say the same."))
            #expect(CommandRun("model", "compile", output, "--output", output).errors.contains("is not a source"))
            let single = folder.path + "/a.mom"
            #expect(
                CommandRun("model", "compile", paths[0], "--output", single).output
                    == "“\(single)” has the version “V1”.\n")
            #expect(CommandRun("model", "diff", paths[0], single).output.contains("The models say the same."))
            let wrong = CommandRun("model", "compile", paths[0], "--output", folder.path + "/a.momx")
            #expect(wrong.status == 64)
            #expect(wrong.errors.hasPrefix("pippin: “a.momx” should end in .momd, or in .mom"))
        }
    }

    @Test("compile and extract name the package that cannot be written", arguments: ["compile", "extract"])
    func unwritable(command: String) throws {
        try withModels([Self.first]) { folder, paths in
            let file = folder.appendingPathComponent("file")
            try Data().write(to: file)
            let output = file.path + "/Books." + (command == "compile" ? "momd" : "xcdatamodeld")
            let run = CommandRun("model", command, paths[0], "--output", output)
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("pippin: “\(output)”: it cannot be written ("), "\(run.errors)")
        }
    }

    @Test("describe, diff and extract lead from a store without a copy of its model to info")
    func withoutCopy() throws {
        let store = try SmallStore()
        try execute("DROP TABLE Z_MODELCACHE", in: store.folder.store)
        let output = store.folder.file("a.xcdatamodeld").path
        for rest in [["describe"], ["diff"], ["extract", "--output", output]] {
            let run = CommandRun(
                arguments: ["model"] + rest + (rest == ["diff"] ? [store.path, store.path] : [store.path]))
            #expect(run.status == 1)
            #expect(
                run.errors == "pippin: “\(store.path)” keeps no copy of its model; "
                    + "pippin info shows the entities as the file has them\n")
        }
        #expect(CommandRun("info", store.path).output.contains("Book"))
    }

    @Test(
        "Arguments that make no sense are named",
        arguments: [
            (
                ["model"],
                "model needs a command; describe, validate, diff, graph, generate, swiftdata, compile or extract expected"
            ),
            (
                ["model", "show"],
                "model has no command “show”; describe, validate, diff, graph, generate, swiftdata, compile or extract expected"
            ),
            (["model", "describe"], "model describe needs the path of a model"),
            (["model", "diff", "a"], "model diff needs two models, or two versions of one: --from NAME, --to NAME"),
            (["model", "diff", "a", "b", "c"], "model diff takes two models; “c” is one too many"),
            (["model", "graph", "a", "--format", "gif"], "there is no format “gif”; one of dot, svg, png expected"),
            (["model", "graph", "a", "--format", "png"], "a PNG goes into a file: --output FILE.png"),
            (
                ["model", "graph", "a", "--output", "b"],
                "“b” does not say which format it shall have; name it with --format dot, svg, png"
            ),
            (["model", "compile", "a"], "model compile needs the file to write: --output"),
            (["model", "extract", "a"], "model extract needs the .xcdatamodeld or .xcdatamodel to write: --output"),
        ])
    func mistakes(arguments: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(arguments) }
        #expect(error?.message == message)
    }

    @Test("Each command has its help")
    func help() {
        for topic in HelpTopic.allCases where topic != .all {
            #expect(Usage.text(topic).hasPrefix("pippin \(topic.rawValue) "))
        }
        #expect(CommandRun("model", "diff", "--help").output == Usage.text(.diff))
        #expect(CommandRun("model", "-h").output == Usage.text(.model))
        #expect(CommandRun("help").output == Usage.text(.all))
    }
}

@Suite("pippin model, on Apple's files", .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
struct ModelCommandFixtureTests {
    @Test("extract writes a model that says what the store's says", arguments: StoreFixtures.stores)
    func extract(store: String) throws {
        try StoreFixtures.withCopy(of: store) { copy in
            let output = copy.deletingLastPathComponent().appendingPathComponent("Extracted.xcdatamodeld").path
            let run = CommandRun("model", "extract", copy.path, "--output", output)
            #expect(run.status == 0)
            let diff = CommandRun("model", "diff", copy.path, output).output
            #expect(diff.hasSuffix("Stores need no migration.\n"))
            if run.errors.isEmpty { #expect(diff.contains("The models say the same.")) }
            #expect(CommandRun("info", copy.path, "--model", output).status == 0)
            let again = CommandRun("model", "extract", copy.path, "--output", output)
            #expect(again.errors == "pippin: “\(output)” is there already; --force replaces it\n")
            #expect(CommandRun("model", "extract", copy.path, "--output", output, "--force").status == 0)
        }
    }

    @Test("describe says whose the version hashes are, and Apple's checksum")
    func describe() {
        let compiled = CommandRun("model", "describe", StoreFixtures.path("users/SampleModel3.momd")).output
        #expect(
            compiled.contains(
                "  checksum         u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=\n  version hashes   Apple's\n"))
        let source = CommandRun("model", "describe", StoreFixtures.path("users/SampleModel3.xcdatamodeld")).output
        #expect(source.contains("  version hashes   Pippin's own\n"))
    }

    @Test("A store and the version of its model say the same")
    func diff() {
        let run = CommandRun(
            "model", "diff", StoreFixtures.path("cars/SampleModel_V1.sqlite"),
            StoreFixtures.path("cars/SampleModel.momd"))
        #expect(run.output.hasSuffix("Stores need no migration.\n"))
    }

    @Test("Xcode's mapping model compiles for compiled models, and a store migrates by it")
    func mapping() throws {
        try inTestFolder { folder in
            let output = folder.appendingPathComponent("V2toV3.cdm")
            let model = StoreFixtures.path("cars/SampleModel.momd")
            let run = CommandRun(
                "model", "compile", StoreFixtures.path("cars/V2toV3.xcmappingmodel"), "--output", output.path,
                "--from", model + "/SampleModel2.mom", "--to", model + "/SampleModel3.mom")
            #expect(run.output == "“\(output.path)” is written.\n")
            let ours = try NSMappingModel.mappings(at: output)
            let apples = try NSMappingModel.mappings(at: URL(fileURLWithPath: StoreFixtures.path("cars/V2toV3.cdm")))
            #expect(ours.map(\.sourceEntityVersionHash) == apples.map(\.sourceEntityVersionHash))
        }
    }

    @Test("A file that is neither a model nor a store is refused")
    func notAModel() {
        let run = CommandRun("model", "describe", StoreFixtures.path("README.md"))
        #expect(run.status == 1)
        #expect(run.errors.contains("is not a store"))
    }
}
