import CodeGeneration
import CoreData
import TestSupport
import Testing

@testable import ModelCompiler

@Suite("The tool behind the plugin", .ownThread)
struct ModelCompilerTests {
    private static let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
            <entity name="Author" representedClassName="Author" codeGenerationType="class">
                <attribute name="age" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES"/>
                <attribute name="tags" optional="YES" attributeType="Transformable" customClassName="[String]"/>
                <relationship name="books" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" \
        destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
            </entity>
            <entity name="Book" representedClassName=".Book" codeGenerationType="category">
                <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
            </entity>
            <entity name="Stamp"/>
        </model>
        """

    private let folder: TestFolder
    private var model: URL { folder.file("Model.xcdatamodel") }

    init() throws {
        folder = try TestFolder()
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        try Self.contents.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    }

    @Test("A class of the current module, which the editor writes with a leading point, is meant by its name")
    func classInModule() throws {
        let contents = Self.contents.replacingOccurrences(of: "[String]", with: ".TagList")
        try contents.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let record = RecordModel(try ModelPackage(at: model).document(), moduleName: "App")
        #expect(record.entities.first?.attributes.last?.customClass == "TagList")
    }

    @Test("A name of which no Swift can be made is reported with file and line")
    func lineOfAName() throws {
        let contents = Self.contents.replacingOccurrences(of: "\"age\"", with: "\"old age\"")
        let file = model.appendingPathComponent("contents")
        try contents.write(to: file, atomically: true, encoding: .utf8)
        let arguments = try Arguments([
            "sources", "--module", "App", "--model", model.path, "--output", folder.file("out").path,
        ])
        let failure = #expect(throws: GenerationFailure.self) { try SourcesCommand.run(arguments) }
        #expect(
            failure?.description.hasPrefix(
                "\(file.path):4:1: error: entity “Author”, property “old age”: its name is not an identifier in Swift")
                == true)
    }

    @Test("What code generation needs is taken from the source of a model")
    func recordModel() throws {
        let model = RecordModel(try ModelPackage(at: model).document(), moduleName: "App")
        var author = RecordEntity(name: "Author", className: "Author", codeGeneration: .class)
        author.attributes = [
            RecordAttribute(name: "age", type: .integer16, isScalar: true),
            RecordAttribute(name: "tags", type: .transformable, customClass: "[String]"),
        ]
        author.relationships = [
            RecordRelationship(name: "books", destination: "Book", isToMany: true, isOrdered: true)
        ]
        var book = RecordEntity(name: "Book", className: "Book", codeGeneration: .category)
        book.relationships = [RecordRelationship(name: "author", destination: "Author")]
        let stamp = RecordEntity(name: "Stamp", className: "NSManagedObject", codeGeneration: .none)
        #expect(model == RecordModel(entities: [author, book, stamp]))
        #expect(model.generatedClasses == ["Author"])
    }

    @Test("A compiled model names classes with the module that declares them")
    func classNames() throws {
        let source = folder.file("Book.swift")
        try "public class Book: NSManagedObject {}".write(to: source, atomically: true, encoding: .utf8)
        let compiled = folder.file("Model.momd")
        try ModelCommand.run(
            Arguments([
                "model", "--module", "App", "--model", model.path, "--output", compiled.path, "--source", source.path,
            ]))
        let entities = try #require(NSManagedObjectModel(contentsOf: compiled)).entitiesByName
        #expect(entities["Author"]?.managedObjectClassName == "App.Author")
        #expect(entities["Book"]?.managedObjectClassName == "App.Book")
        #expect(entities["Stamp"]?.managedObjectClassName == "NSManagedObject")
    }

    @Test(
        "So it does those of transformable attributes' values",
        arguments: [
            (".Route", "App.Route"), ("Route", "App.Route"), ("[Route]", "[App.Route]"),
            ("[String: Set<Route>]?", "[String: Set<App.Route>]?"), ("Maps.Route", "Maps.Route"),
            ("[String]", "[String]"),
        ])
    func valueClassNames(custom: String, compiledName: String) throws {
        let contents = Self.contents.replacingOccurrences(
            of: "[String]", with: custom.replacingOccurrences(of: "<", with: "&lt;"))
        try contents.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let source = folder.file("Route.swift")
        try "final class Route: NSObject {}".write(to: source, atomically: true, encoding: .utf8)
        let compiled = folder.file("Model.momd")
        try ModelCommand.run(
            Arguments([
                "model", "--module", "App", "--model", model.path, "--output", compiled.path, "--source", source.path,
            ]))
        let author = try #require(NSManagedObjectModel(contentsOf: compiled)?.entitiesByName["Author"])
        #expect(author.attributesByName["tags"]?.attributeValueClassName == compiledName)
    }

    @Test(
        "Where there is nothing to generate, the script writes what the tool would, without compiling it",
        arguments: [
            ("struct Book {}", true), ("@objc @NSManaged var title: String", false),
            ("let constant: NSExpression", false), ("let test: NSComparisonPredicate", false),
        ])
    func nothingToGenerate(_ text: String, _ isPlain: Bool) throws {
        let source = folder.file("A book.swift")
        try text.write(to: source, atomically: true, encoding: .utf8)
        let (plain, tool) = (folder.file("plain"), folder.file("tool"))
        func arguments(_ output: URL) -> [String] {
            ["sources", "--output", output.path, "--module", "App", "--compiler", "/none", "--library"]
                + ["--source", source.path]
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // A compiler that is not there: what needs the tool fails.
        process.arguments = [Self.script.path, "/none", folder.file("work").path] + arguments(plain)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect((process.terminationStatus == 0) == isPlain)
        guard isPlain else { return }
        try SourcesCommand.run(Arguments(arguments(tool)))
        for name in ["App+Accessors.swift", "App+Names.swift"] {
            #expect(
                try Data(contentsOf: plain.appendingPathComponent(name))
                    == Data(contentsOf: tool.appendingPathComponent(name)))
        }
    }

    @Test("The script compiles the tool without the folders that it leaves out")
    func compiling() throws {
        let source = folder.file("Book.swift")
        try "@objc(Book) final class Book: NSManagedObject { @NSManaged var title: String }".write(
            to: source, atomically: true, encoding: .utf8)
        let output = folder.file("output")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let command = """
            swiftc=$(command -v swiftc) && exec /bin/sh "$0" "$swiftc" "$1" sources --compiler "$swiftc" --module App \
            --library --output "$2" --source "$3"
            """
        process.arguments = ["sh", "-c", command, Self.script.path, folder.file("work").path, output.path, source.path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let accessors = try String(contentsOf: output.appendingPathComponent("App+Accessors.swift"), encoding: .utf8)
        #expect(accessors.contains("title"))
    }

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Scripts/model-compiler")

    @Test("A wrong call says what is missing")
    func usage() {
        #expect(throws: UsageError.self) { try Arguments([]) }
        #expect(throws: UsageError.self) { try Arguments(["model", "--output"]) }
        #expect(throws: UsageError.self) { try Arguments(["model"]).one("--output") }
    }
}
