import Foundation
import Testing

@testable import ModelFiles

@Suite("What Xcode fills in when it compiles a mapping model")
struct GeneratedMappingTests {
    private func model(_ entities: String) throws -> MappedModel {
        let document = try SourceReader.document(of: Data("<model>\(entities)</model>".utf8))
        return MappedModel(document, hashes: VersionHash.hashes(of: document))
    }

    private let source = """
        <entity name="Recipe"><attribute name="name" attributeType="String"/>
        <relationship name="category" optional="YES" maxCount="1" destinationEntity="Category"/></entity>
        <entity name="Category"><attribute name="name" attributeType="String"/></entity>
        <entity name="Photo"><attribute name="path" attributeType="String"/></entity>
        <entity name="Version"><attribute name="number" attributeType="Float"/></entity>
        """

    @Test(
        "An entity is copied that has its name, its attributes and the entities at the ends of its relationships",
        arguments: [
            ("Recipe", "Recipe", NSEntityMappingType.transformEntityMappingType),
            ("Category", "CategoryRx", .transformEntityMappingType), ("Photo", "Photo", .copyEntityMappingType),
            ("Version", "Version", .copyEntityMappingType),
        ])
    func types(from: String, to: String, type: NSEntityMappingType) throws {
        let destination = """
            <entity name="Recipe"><attribute name="name" attributeType="String"/>
            <relationship name="category" optional="YES" maxCount="1" destinationEntity="CategoryRx"/></entity>
            <entity name="CategoryRx"><attribute name="name" attributeType="String"/></entity>
            <entity name="Photo"><attribute name="path" attributeType="String"/>
            <relationship name="recipe" optional="YES" maxCount="1" destinationEntity="Recipe"/></entity>
            <entity name="Version"><attribute name="number" attributeType="Float"/></entity>
            """
        let generated = GeneratedMapping(source: try model(source), destination: try model(destination), mappings: [])
        #expect(generated.type(source: from, destination: to, hasPolicy: false) == type)
    }

    @Test("Property mappings are in the editor's order of names, which has no regard to case")
    func order() throws {
        let names = ["path", "iPhone", "image", "iPad", "Zoom"]
        let attributes = names.map { "<attribute name='\($0)' attributeType='String'/>" }.joined()
        let model = try model("<entity name='Photo'>\(attributes)</entity>")
        var made = MappingSource()
        var root = MappingSource.Object(kind: .model, key: 1)
        root.refer("entitymappings", to: [2])
        var photo = MappingSource.Object(kind: .entity, key: 2)
        photo.set("sourcename", "Photo")
        photo.set("destinationname", "Photo")
        photo.refer("attributemappings", to: names.indices.map { Int64($0) + 3 })
        made.objects = [root, photo]
        for (index, name) in names.enumerated() {
            var attribute = MappingSource.Object(kind: .attribute, key: Int64(index) + 3)
            attribute.set("name", name)
            made.objects.append(attribute)
        }
        let mapping = try #require(MappingSourceCompiler.documents(of: made, from: model, to: model).first)
        #expect(mapping.attributes?.map(\.name) == ["image", "iPad", "iPhone", "path", "Zoom"])
    }
}
