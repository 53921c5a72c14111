import CodeGeneration
import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import ModelFiles
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// An entity mapping with all that it says, for comparisons.
func outline(_ mappings: [NSEntityMapping]) -> [String] {
    mappings.map { mapping in
        let properties = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
        let lines = properties.map { property in
            "  \(property.name ?? "") = \(property.valueExpression.map { "\($0)" } ?? "nothing")"
        }
        let facts = [
            mapping.name ?? "", "\(mapping.mappingType)",
            "\(mapping.sourceEntityName ?? "-") -> \(mapping.destinationEntityName ?? "-")",
            mapping.sourceEntityVersionHash?.base64EncodedString() ?? "-",
            mapping.destinationEntityVersionHash?.base64EncodedString() ?? "-",
            mapping.entityMigrationPolicyClassName ?? "-", mapping.sourceExpression.map { "\($0)" } ?? "-",
            mapping.userInfo.map { "\($0)" } ?? "-",
        ]
        return ([facts.joined(separator: " | ")] + lines).joined(separator: "\n")
    }
}

@Suite("Xcode's mapping models", .enabled(if: Fixtures.areThere, ModelFixtures.skipped))
struct MappingFixtureTests {
    private let compiled = Fixtures.url("cars/V2toV3.cdm")
    private let source = Fixtures.url("cars/V2toV3.xcmappingmodel")

    private func models() throws -> (source: NSManagedObjectModel, destination: NSManagedObjectModel) {
        let package = try ModelPackage(at: Fixtures.url("cars/SampleModel.momd"))
        return (try package.model(version: "SampleModel2"), try package.model(version: "SampleModel3"))
    }

    @Test("The compiled mapping and its XML source give equal mapping models")
    func equal() throws {
        let fromSource = try NSMappingModel.mappings(at: source, models: models())
        let fromCompiled = try NSMappingModel.mappings(at: compiled)
        #expect(outline(fromSource) == outline(fromCompiled))
        #expect(fromSource.count == 5)
        #expect(MappingFit.holds(fromSource, from: try models().source, to: try models().destination))
    }

    @Test("A source finds the models that it names, by the ends of their paths")
    func ownModels() throws {
        let mapping = try #require(NSMappingModel(contentsOf: source))
        #expect(
            mapping.entityMappings.map(\.name) == [
                "CarToCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "SportCarToSportCar", "Maker",
            ])
        let sources = try ModelPackage(at: Fixtures.url("cars/SampleModel.xcdatamodeld"))
        let third = try sources.model(version: "SampleModel3")
        #expect(mapping.entityMappings[4].destinationEntityVersionHash == third.entitiesByName["Maker"]?.versionHash)
    }

    @Test("A source is written as it was, byte for byte")
    func sourceAgain() throws {
        let file = source.appendingPathComponent("xcmapping.xml")
        let written = try MappingSourceWriter.contents(of: MappingSourceReader.source(at: source))
        #expect(try written == String(contentsOf: file, encoding: .utf8))
    }

    @Test("A compiled mapping model is written with the classes and keys of Apple's, and reads the same")
    func compiledAgain() throws {
        let mapping = try #require(NSMappingModel(contentsOf: compiled))
        let data = try mapping.compiledData()
        #expect(outline(try MappingArchiveReader.mappings(of: data)) == outline(mapping.entityMappings))
        let (ours, apples) = (try KeyedArchive(data: data), try KeyedArchive(data: Data(contentsOf: compiled)))
        #expect(try Self.classes(of: ours) == Self.classes(of: apples))
    }

    @Test("A file that is cut off is refused, wherever, in both forms")
    func cutOff() throws {
        let text = try Data(contentsOf: source.appendingPathComponent("xcmapping.xml"))
        let archive = try Data(contentsOf: compiled)
        for part in 0..<40 {
            let shortText = text.prefix(text.count * part / 40)
            #expect(throws: (any Error).self) { try MappingSourceReader.source(of: Data(shortText)) }
            let shortArchive = archive.prefix(archive.count * part / 40)
            #expect(throws: (any Error).self) { try MappingArchiveReader.mappings(of: Data(shortArchive)) }
        }
        let missing = Fixtures.url("cars/none.xcmappingmodel")
        let error = #expect(throws: NSError.self) { try NSMappingModel.mappings(at: missing) }
        #expect(error?.localizedDescription == "“\(missing.path)/xcmapping.xml”: it is missing or cannot be read.")
    }

    /// The classes of an archive with the keys that their objects have. Whether a list of arguments may still grow
    /// makes no difference.
    private static func classes(of archive: KeyedArchive) throws -> Set<String> {
        var result: Set<String> = []
        for index in archive.objects.indices.dropFirst() {
            guard case .object(let object) = try archive.value(of: .uid(UInt32(index)), owner: 0, key: "") else {
                continue
            }
            let names = object.classNames.filter { !$0.hasPrefix("NSMutable") }
            result.insert("\(names.joined(separator: ":")) \(object.keys.joined(separator: " "))")
        }
        return result
    }

    @Test("A compiled mapping model becomes a source that compiles to the same")
    func toSource() throws {
        let models = try models()
        let mapping = try #require(NSMappingModel(contentsOf: compiled))
        let former = try MappingSourceReader.source(at: source)
        let made = try MappingSource(
            mapping, from: models.source, to: models.destination, paths: ("a.xcdatamodel", "b.xcdatamodel"),
            former: former)
        let text = try MappingSourceWriter.contents(of: made)
        let back = try MappingSourceReader.source(of: Data(text.utf8))
        #expect(back == made)
        let again = try MappingSourceCompiler.mappings(of: back, from: models.source, to: models.destination)
        #expect(outline(again) == outline(mapping.entityMappings))
        // Xcode's own archives of the models are kept, which it compiles with; expressions that it would fill in are
        // not there.
        #expect(made.root?.text("sourcemodeldata") == former.root?.text("sourcemodeldata"))
        #expect(made.objects.count { $0.text("valueexpressiondata") != nil } == 4)
    }
}

@Suite("Mapping models, written and read")
struct MappingFileTests {
    private static let first = """
        <entity name="Book"><attribute name="title" attributeType="String"/>
            <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/></entity>
        <entity name="Author"><attribute name="name" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/></entity>
        """
    private static let second = first.replacing("name=\"title\"", with: "name=\"heading\"")

    private let source: NSManagedObjectModel
    private let destination: NSManagedObjectModel

    init() throws {
        source = try ModelAssembler.model(SourceReaderTests.read(Self.first))
        destination = try ModelAssembler.model(SourceReaderTests.read(Self.second))
    }

    private func mapping() throws -> NSMappingModel {
        let mapping = NSMappingModel()
        let books = NSEntityMapping()
        books.name = "Books"
        books.mappingType = .transformEntityMappingType
        (books.sourceEntityName, books.destinationEntityName) = ("Book", "Book")
        books.sourceEntityVersionHash = source.entitiesByName["Book"]?.versionHash
        books.destinationEntityVersionHash = destination.entitiesByName["Book"]?.versionHash
        books.sourceExpression = makeMappingExpression(GeneratedMapping.objects(of: "Book", predicate: "title != \"\""))
        books.userInfo = ["step": "first"]
        let heading = NSPropertyMapping()
        heading.name = "heading"
        heading.valueExpression = NSExpression(format: "uppercase:($source.title)")
        books.attributeMappings = [heading]
        books.relationshipMappings = []
        mapping.entityMappings = [books]
        return mapping
    }

    @Test("A .cdm has all that a mapping says")
    func compiled() throws {
        let mapping = try mapping()
        #expect(
            outline(try MappingArchiveReader.mappings(of: mapping.compiledData())) == outline(mapping.entityMappings))
    }

    @Test("A source has it too: names and predicates as text, expressions as archives")
    func sourceFile() throws {
        let mapping = try mapping()
        let made = try MappingSource(mapping, from: source, to: destination, paths: ("a", "b"))
        let text = try MappingSourceWriter.contents(of: made)
        #expect(text.contains("<attribute name=\"name\" type=\"string\">Books</attribute>"))
        #expect(
            text.contains("<attribute name=\"sourcefilterpredicatestring\" type=\"string\">title != \"\"</attribute>"))
        let back = try MappingSourceReader.source(of: Data(text.utf8))
        #expect(
            outline(try MappingSourceCompiler.mappings(of: back, from: source, to: destination))
                == outline(mapping.entityMappings))
    }

    @Test("What the models do not say is filled in: names, kinds, all objects, values of the same name")
    func generated() throws {
        var made = MappingSource()
        var root = MappingSource.Object(kind: .model, key: 1)
        root.refer("entitymappings", to: [2, 3])
        var book = MappingSource.Object(kind: .entity, key: 2)
        book.set("sourcename", "Book")
        book.set("destinationname", "Book")
        book.refer("relationshipmappings", to: [4])
        var author = MappingSource.Object(kind: .entity, key: 3)
        author.set("sourcename", "Author")
        author.set("destinationname", "Author")
        author.refer("attributemappings", to: [5])
        var relationship = MappingSource.Object(kind: .relationship, key: 4)
        relationship.set("name", "author")
        var attribute = MappingSource.Object(kind: .attribute, key: 5)
        attribute.set("name", "name")
        made.objects = [root, book, author, relationship, attribute]
        let mappings = try MappingSourceCompiler.mappings(of: made, from: source, to: destination)
        #expect(mappings.map(\.name) == ["BookToBook", "AuthorToAuthor"])
        #expect(mappings.map(\.mappingType) == [.transformEntityMappingType, .copyEntityMappingType])
        let expressions = mappings.flatMap { ($0.attributeMappings ?? []) + ($0.relationshipMappings ?? []) }
            .map { $0.valueExpression.map { "\($0)" } ?? "" }
        #expect(
            expressions == [
                #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:" , "AuthorToAuthor", $source.author)"#,
                "$source.name",
            ])
    }

    @Test(
        "A source key path begins at the source object, whether it says so or not, or is that object",
        arguments: [
            ("author.books.author", "$source.author.books.author"),
            ("$source.author.books.author", "$source.author.books.author"), ("$source", "$source"),
        ])
    func keyPathOfTheSource(keyPath: String, value: String) throws {
        var made = MappingSource()
        var root = MappingSource.Object(kind: .model, key: 1)
        root.refer("entitymappings", to: [2])
        var book = MappingSource.Object(kind: .entity, key: 2)
        book.set("sourcename", "Book")
        book.set("destinationname", "Book")
        book.refer("relationshipmappings", to: [3])
        var relationship = MappingSource.Object(kind: .relationship, key: 3)
        relationship.set("name", "author")
        relationship.set("sourcekeypath", keyPath)
        relationship.set("sourcemappingname", "AuthorToAuthor")
        made.objects = [root, book, relationship]
        let mapping = try MappingSourceCompiler.mappings(of: made, from: source, to: destination).first
        #expect(
            mapping?.relationshipMappings?.first?.valueExpression.map { "\($0)" }
                == #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:" , "AuthorToAuthor", \#(value))"#
        )
    }

    @Test(
        "Sources that make no sense are refused, with the place",
        arguments: [
            ("<database>", "it is not a mapping model", "<object"), ("", "the XML is not well formed", "</database>"),
            (
                "sourcename\" type=\"string\">Page<", "the source model has no entity “Page”",
                "sourcename\" type=\"string\">Book<"
            ),
            (
                "type=\"string\">color<", "the destination entity “Book” has no such property",
                "type=\"string\">heading<"
            ),
            ("binary\">AAAA<", "its valueexpressiondata cannot be read", nil),
            ("binary\">!<", "its valueexpressiondata cannot be read", nil),
        ])
    func refused(replacement: String, message: String, original: String?) throws {
        let made = try MappingSource(try mapping(), from: source, to: destination, paths: ("a", "b"))
        var text = try MappingSourceWriter.contents(of: made)
        if replacement == "<database>" {
            text = "<database><databaseInfo></databaseInfo></database>"
        } else if let original {
            text = text.replacing(original, with: replacement)
        } else {
            let start = try #require(text.range(of: "valueexpressiondata\" type=\""))
            let end = try #require(text.range(of: "</attribute>", range: start.upperBound..<text.endIndex))
            text.replaceSubrange(start.upperBound..<end.upperBound, with: replacement + "/attribute>")
        }
        let error = #expect(throws: (any Error).self) {
            let back = try MappingSourceReader.source(of: Data(text.utf8))
            _ = try MappingSourceCompiler.mappings(of: back, from: source, to: destination)
        }
        #expect((error as? ModelFileError)?.reason.contains(message) == true, "\(error as Any)")
    }

    @Test("A mapping that Xcode's editor could not say is not written, and says why")
    func unwritable() throws {
        let mapping = try mapping()
        mapping.entityMappings[0].mappingType = .copyEntityMappingType
        let error = #expect(throws: ModelFileError.self) {
            try MappingSource(mapping, from: source, to: destination, paths: ("a", "b"))
        }
        #expect(error?.entity == "Books")
        let two = NSMappingModel()
        two.entityMappings = try self.mapping().entityMappings + self.mapping().entityMappings
        let duplicate = #expect(throws: NSError.self) { try two.compiledData() }
        #expect(duplicate?.localizedDescription.contains("two entity mappings named “Books”") == true)
    }
}
