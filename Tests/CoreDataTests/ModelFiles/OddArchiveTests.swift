import CoreData
import ModelFiles
import TestSupport
import Testing

@Suite("Model archives of other years")
struct OddArchiveTests {
    private static let source = """
        <entity name="Base"><attribute name="title" attributeType="String"/></entity>
        <entity name="Book" parentEntity="Base">
            <attribute name="pages" optional="YES" attributeType="Integer 32"/>
            <attribute name="price" optional="YES" attributeType="Decimal"/>
            <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/>
            <fetchIndex name="byPages"><fetchIndexElement property="pages"/></fetchIndex>
        </entity>
        <entity name="Author">
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
        </entity>
        """

    /// The objects of the archive of a model in use, where each entity lists what it inherits, too.
    private func objects() throws -> [PropertyList] {
        let model = try ModelAssembler.model(SourceReaderTests.read(Self.source))
        return try ModelArchiveWriter.archive(of: ModelDocument(model), form: .cache).objects
    }

    private func read(_ objects: [PropertyList]) throws -> ModelDocument {
        try ModelArchiveReader.document(of: KeyedArchive(propertyList: list(objects)))
    }

    private func list(_ objects: [PropertyList]) -> PropertyList {
        .dictionary([
            "$objects": .array(objects), "$top": .dictionary(["root": .uid(1)]), "$version": .integer(100_000),
        ])
    }

    /// The number of the object of a property.
    private func index(of property: String, in objects: [PropertyList]) throws -> Int {
        try #require(
            objects.firstIndex { object in
                guard case .uid(let name)? = object.dictionaryValue?["NSPropertyName"] else { return false }
                return objects[Int(name)] == .string(property)
            })
    }

    /// Puts an object in the place of a property, which moves to the end.
    private func replace(
        _ property: String, in objects: inout [PropertyList], by fields: (_ moved: UInt32) -> [String: PropertyList]
    ) throws {
        let place = try index(of: property, in: objects)
        let moved = UInt32(objects.count)
        objects.append(objects[place])
        let names: [PropertyList] = ["_NSPropertyDescriptionProxy", "NSObject"].map { .string($0) }
        objects.append(.dictionary(["$classname": names[0], "$classes": .array(names)]))
        objects[place] = .dictionary(fields(moved).merging(["$class": .uid(moved + 1)]) { first, _ in first })
    }

    @Test("A proxy stands for the property that it refers to, over other proxies, too", arguments: ["title", "author"])
    func proxies(property: String) throws {
        let expected = try read(objects())
        var objects = try objects()
        try replace(property, in: &objects) { ["NSUnderlyingProperty": .uid($0)] }
        #expect(try read(objects) == expected)
        let inner = try #require(objects.firstIndex { $0.dictionaryValue?["NSUnderlyingProperty"] != nil })
        objects.append(objects[inner])
        var outer = objects[inner].dictionaryValue ?? [:]
        outer["NSUnderlyingProperty"] = .uid(UInt32(objects.count - 1))
        objects[inner] = .dictionary(outer)
        #expect(try read(objects) == expected)
    }

    @Test("A decimal of a class that only early compilers know, and elements of composites under another key")
    func earlyDecimals() throws {
        let document = try ModelArchiveTests.everything()
        let written = try ModelArchiveWriter.archive(of: document, form: .compiled).objects
        let early = ["NSDecimalNumberPlaceholder", "NSObject"].map { PropertyList.string($0) }
        let objects = written.map { object -> PropertyList in
            guard var fields = object.dictionaryValue else { return object }
            if fields["$classname"] == .string("NSDecimalNumber") {
                fields = ["$classname": early[0], "$classes": .array(early)]
            }
            fields["NSElements"] = fields.removeValue(forKey: "NSCompositeElements")
            return .dictionary(fields)
        }
        #expect(objects != written)
        #expect(try read(objects).withImpliedIndexes.compiled == document.withImpliedIndexes.compiled)
    }

    @Test("Proxies that lead to themselves, to nothing or out of the archive are errors")
    func hostileProxies() throws {
        for target in [UInt32.max, 0] {
            var objects = try objects()
            try replace("title", in: &objects) { _ in ["NSUnderlyingProperty": .uid(target)] }
            #expect(throws: KeyedArchiveError.self) { try read(objects) }
        }
        var objects = try objects()
        let place = UInt32(try index(of: "title", in: objects))
        try replace("title", in: &objects) { _ in ["NSUnderlyingProperty": .uid(place)] }
        let error = #expect(throws: KeyedArchiveError.self) { try read(objects) }
        #expect(error?.reason.contains("proxies that refer to one another") == true)
    }

    @Test("An object of an unknown class costs its property and what names that, and is named")
    func unknownClass() throws {
        for property in ["author", "pages"] {
            var objects = try objects()
            let names: [PropertyList] = ["XYSpecialDescription", "NSObject"].map { .string($0) }
            objects.append(.dictionary(["$classname": names[0], "$classes": .array(names)]))
            let place = try index(of: property, in: objects)
            var fields = objects[place].dictionaryValue ?? [:]
            fields["$class"] = .uid(UInt32(objects.count - 1))
            objects[place] = .dictionary(fields)
            let document = try read(objects)
            #expect(
                document.losses.map(\.text) == [
                    "“Book.\(property)” (an object of the unknown class XYSpecialDescription)"
                ])
            #expect(document.entity(named: "Book")?.property(named: property) == nil)
            #expect(document.entity(named: "Book")?.property(named: "price") != nil)
            let model = try ModelAssembler.model(document)
            #expect(model.unreadProperties.count == 1)
            // Whoever reads the model from a file, copies or merges it learns of them too.
            #expect((model.copy() as? NSManagedObjectModel)?.unreadProperties == model.unreadProperties)
            #expect(NSManagedObjectModel(byMerging: [model])?.unreadProperties == model.unreadProperties)
            try inTestFolder { folder in
                let file = folder.appendingPathComponent("Books.mom")
                try KeyedArchive(propertyList: list(objects)).data().write(to: file)
                #expect(NSManagedObjectModel(contentsOf: file)?.unreadProperties == model.unreadProperties)
            }
            #expect(model.entitiesByName["Author"]?.relationshipsByName["books"] != nil)
        }
    }

    @Test(
        "The model of a store of macOS 10.13 is read whole", .enabled(if: Fixtures.areThere, ModelFixtures.skipped)
    )
    func knowledge() throws {
        let cache = try ModelFixtures.modelCache(of: "knowledge/knowledgec-10.13.sqlite")
        let document = try ModelArchiveReader.document(of: RawDeflate.inflate(cache))
        #expect(document.losses.isEmpty)
        let model = try ModelAssembler.model(document)
        #expect(model.entities.count == 15)
        // What is inherited is there, once.
        let event = try #require(model.entitiesByName["Event"])
        #expect(event.superentity != nil)
        #expect(event.properties.count == Set(event.properties.map(\.name)).count)
        #expect(event.ownProperties.count < event.properties.count)
    }
}
