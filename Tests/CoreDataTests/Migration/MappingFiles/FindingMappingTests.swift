import CodeGeneration
import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import ModelFiles

// What CareKit's mapping model, its store of an earlier release and the test of its migration say.
@Suite("Mapping models and their versions, found")
struct FindingMappingTests {
    private static let first = "<entity name=\"Book\"><attribute name=\"title\" attributeType=\"String\"/></entity>"
    private static let second = first.replacing("name=\"title\"", with: "name=\"heading\"")

    /// A model package with versions 1, 2 and so on, and a mapping from the first to the second that names other
    /// versions, perhaps with copies of both, as Xcode's have.
    private func project(
        _ versions: [String], in folder: URL, paths: (String, String), copies: Bool = false
    ) throws -> URL {
        let package = folder.appendingPathComponent("Shop.xcdatamodeld")
        let header = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        for (number, entities) in versions.enumerated() {
            let version = package.appendingPathComponent("Shop \(number + 1).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try Data("\(header)<model>\(entities)</model>".utf8)
                .write(to: version.appendingPathComponent("contents"))
        }
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        let current =
            "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>Shop 1.xcdatamodel</string></dict></plist>"
        try Data("\(header)\(current)".utf8).write(to: package.appendingPathComponent(".xccurrentversion"))
        var source = try MappingSource(try mapping(), from: model(Self.first), to: model(Self.second), paths: paths)
        if copies, let root = source.objects.firstIndex(where: { $0.kind == .model }) {
            for (field, name) in [("sourcemodeldata", "title"), ("destinationmodeldata", "heading")] {
                source.objects[root].set(field, try Self.copy(named: name).base64EncodedString())
            }
        }
        let file = folder.appendingPathComponent("Mapping.xcmappingmodel")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        try Data(MappingSourceWriter.contents(of: source).utf8).write(to: file.appendingPathComponent("xcmapping.xml"))
        return file
    }

    /// The copy of a version whose books have an attribute with a name.
    private static func copy(named name: String) throws -> Data {
        var editor = LegacyEditor()
        let book = editor.builder.reserve()
        let (type, isOptional) = (editor.builder.scalar(.integer(700)), editor.builder.scalar(.boolean(false)))
        let attribute = editor.property(
            "XDPMAttribute", name, [("XD_PAttK_attributeType", type), ("XD_PPSK_isOptional", isOptional)])
        editor.fill(book, entity: "Book", [], [(name, attribute)])
        return try editor.elements([("Book", book)], identifier: nil)
    }

    private func model(_ entities: String) throws -> NSManagedObjectModel {
        try ModelAssembler.model(SourceReaderTests.read(entities))
    }

    private func mapping() throws -> NSMappingModel {
        let books = NSEntityMapping()
        (books.name, books.mappingType) = ("Books", .transformEntityMappingType)
        (books.sourceEntityName, books.destinationEntityName) = ("Book", "Book")
        books.sourceEntityVersionHash = try model(Self.first).entitiesByName["Book"]?.versionHash
        books.destinationEntityVersionHash = try model(Self.second).entitiesByName["Book"]?.versionHash
        let heading = NSPropertyMapping()
        heading.name = "heading"
        heading.valueExpression = NSExpression(format: "uppercase:($source.title)")
        (books.attributeMappings, books.relationshipMappings) = ([heading], [])
        let mapping = NSMappingModel()
        mapping.entityMappings = [books]
        return mapping
    }

    private let renamed = ("Shop.xcdatamodeld/Shop 1.xcdatamodel", "Shop.xcdatamodeld/Shop 9.xcdatamodel")

    @Test("A version that a source names and that was renamed is the one of its package that the mappings fit")
    func renamedVersion() throws {
        try inTestFolder { folder in
            let file = try project([Self.first, Self.second], in: folder, paths: renamed)
            let mapping = try #require(NSMappingModel(contentsOf: file))
            #expect(
                MappingFit.holds(mapping.entityMappings, from: try model(Self.first), to: try model(Self.second)))
        }
    }

    @Test("A version of the package that cannot be read is not taken for one that the mappings fit")
    func draft() throws {
        try inTestFolder { folder in
            let versions = [Self.first, "<entity name=\"Book\" isAbstract=\"perhaps\"/>", Self.second]
            let file = try project(versions, in: folder, paths: renamed)
            #expect(NSMappingModel(contentsOf: file) != nil)
        }
    }

    @Test("Where several versions fit, or none, the source is refused, and says which there are", arguments: [0, 2])
    func undecided(count: Int) throws {
        let others = Array(repeating: Self.second, count: count) + [Self.first]
        try inTestFolder { folder in
            let file = try project([Self.first] + others, in: folder, paths: renamed)
            let error = #expect(throws: NSError.self) { try NSMappingModel.mappings(at: file) }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("“\(renamed.1)”, is neither in its folder nor in one above it"), "\(text)")
            #expect(text.contains("“Shop 1”, “Shop 2”") && text.contains("\(count) fit the mappings"), "\(text)")
        }
    }

    @Test("A version that is nowhere in the project is the copy of it in the source")
    func copied() throws {
        try inTestFolder { folder in
            let file = try project([], in: folder, paths: ("old/Gone.xcdatamodel", "Gone 2.xcdatamodel"), copies: true)
            let mapping = try NSMappingModel.mappings(at: file)
            #expect(mapping.map(\.name) == ["Books"])
            #expect(MappingFit.holds(mapping, from: try model(Self.first), to: try model(Self.second)))
        }
    }

    @Test("A copy in the source decides where several versions fit, or none", arguments: [0, 2])
    func decided(count: Int) throws {
        let others = Array(repeating: Self.second, count: count) + [Self.first]
        try inTestFolder { folder in
            let file = try project([Self.first] + others, in: folder, paths: renamed, copies: true)
            let mapping = try NSMappingModel.mappings(at: file)
            #expect(MappingFit.holds(mapping, from: try model(Self.first), to: try model(Self.second)))
        }
    }

    @Test(
        "A mapping compiled here fits the copy of the model in a store that Apple made, which has Apple's version hashes"
    )
    func applesHashes() throws {
        let (source, destination) = (try model(Self.first), try model(Self.second))
        source.entitiesByName["Book"]?.recordedVersionHash = Data(repeating: 7, count: 32)
        let mappings = try mapping().entityMappings ?? []
        #expect(MappingFit.holds(mappings, from: source, to: destination))
        #expect(!MappingFit.holds(mappings, from: destination, to: source))
    }

    @Test("A compiled mapping model is found in any of the folders that models are found in")
    func folders() throws {
        try inTestFolder { folder in
            let resources = folder.appendingPathComponent("Shop.resources")
            try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
            try mapping().compiledData().write(to: resources.appendingPathComponent("Mapping.cdm"))
            let files = NSMappingModel.compiledFiles(in: [folder, resources, folder.appendingPathComponent("none")])
            #expect(files.map(\.lastPathComponent) == ["Mapping.cdm"])
            let (source, destination) = (try model(Self.first), try model(Self.second))
            #expect(NSMappingModel(files, from: source, to: destination)?.entityMappings.map(\.name) == ["Books"])
            #expect(NSMappingModel(files, from: destination, to: source) == nil)
        }
    }
}
