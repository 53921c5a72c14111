import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans

@Suite("Of mapping models for several versions, the one for these versions is used")
struct MappingChoiceTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Version 1 has people, version 2 tags, too, and version 3 books.
    private static func model(_ version: Int) -> NSManagedObjectModel {
        let entities = ["Person", "Tag", "Book"].prefix(version)
        let model = NSManagedObjectModel()
        model.entities = entities.map { makeEntity($0, makeAttribute("name", .stringAttributeType)) }
        model.versionIdentifiers = ["\(version)"]
        return model
    }

    private static func version(_ number: Int) -> KnownVersion {
        KnownVersion(name: "\(number)", model: model(number))
    }

    /// The mapping model that Xcode makes between two versions; people's names get capitals.
    private static func mapping(_ source: Int, _ destination: Int) throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: model(source), destinationModel: model(destination))
        mapping.entityMappings.first { $0.sourceEntityName == "Person" }?.attributeMappings?.first?.valueExpression =
            NSExpression(format: "FUNCTION($source.name, 'uppercaseString')")
        return mapping
    }

    private static func named(_ source: Int, _ destination: Int) throws -> NamedMapping {
        NamedMapping(name: "\(source) to \(destination)", mapping: try mapping(source, destination))
    }

    /// A store of version 2 with a person and a tag, or one of version 1 with a person.
    private func makeStore(_ version: Int = 2) throws {
        let container = try Library.stored(at: folder.store, Self.model(version))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Person", ["name": "Ann"])
            if version > 1 { context.make("Tag", ["name": "red"]) }
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    private func found(_ mappings: NSMappingModel..., from source: Int, to destination: Int) throws -> [String]? {
        let files = try mappings.enumerated().map { number, mapping in
            let file = folder.file("\(number).cdm")
            try mapping.compiledData().write(to: file)
            return file
        }
        return NSMappingModel(files, from: Self.model(source), to: Self.model(destination))?.entityMappings
            .map { $0.destinationEntityName ?? "" }
    }

    @Test("One that maps no objects of an entity which both versions have is not found, although its hashes are theirs")
    func losing() throws {
        let earlier = try Self.mapping(1, 2)
        #expect(MappingFit.agree(earlier.entityMappings, from: Self.model(2), to: Self.model(3)))
        #expect(try found(earlier, from: 2, to: 3) == nil)
        #expect(try found(earlier, from: 1, to: 2) == ["Person", "Tag"])
    }

    @Test("One whose source expression fetches subentities, too, loses none of them", arguments: [true, false])
    func subentities(includes: Bool) throws {
        func model(_ attribute: String) -> NSManagedObjectModel {
            let worker = makeEntity("Worker", makeAttribute("wage", .integer64AttributeType))
            return makeModel(
                makeEntity("Person", makeAttribute(attribute, .stringAttributeType)).with(sub: worker), worker)
        }
        let person = NSEntityMapping()
        (person.sourceEntityName, person.destinationEntityName) = ("Person", "Person")
        person.sourceExpression = NSExpression(
            format: """
                FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:includesSubentities:", "Person", \
                "TRUEPREDICATE", \(includes ? "YES" : "NO")), $manager.sourceContext, NO)
                """)
        #expect(MappingFit.lost([person], from: model("a"), to: model("b")) == (includes ? [] : ["Worker"]))
    }

    @Test("The one that leaves out the fewest entities is found, whatever its file is called")
    func mostExact() throws {
        #expect(
            try found(Self.mapping(1, 2), Self.mapping(1, 3), from: 1, to: 3)?.sorted() == ["Book", "Person", "Tag"])
        #expect(try found(Self.mapping(1, 2), Self.mapping(2, 3), from: 2, to: 3)?.count == 3)
    }

    @Test("One may leave out entities that are removed, and new ones")
    func leavingOut() throws {
        let removing = try Self.mapping(2, 1)
        removing.entityMappings = removing.entityMappings.filter { $0.sourceEntityName == "Person" }
        #expect(try found(removing, from: 2, to: 1) == ["Person"])
        let adding = try Self.mapping(1, 2)
        adding.entityMappings = adding.entityMappings.filter { $0.sourceEntityName == "Person" }
        #expect(try found(adding, from: 1, to: 2) == ["Person"])
    }

    @Test("One that says that an entity is removed is found, even if the destination has the entity")
    func removingOnPurpose() throws {
        let mapping = try Self.mapping(1, 2)
        let tags = NSEntityMapping()
        (tags.sourceEntityName, tags.mappingType) = ("Tag", .removeEntityMappingType)
        tags.sourceEntityVersionHash = Self.model(2).entity("Tag").versionHash
        mapping.entityMappings += [tags]
        #expect(try found(mapping, from: 2, to: 3)?.count == 3)
    }

    @Test("One without any hash is for no version")
    func withoutHashes() throws {
        let mapping = try Self.mapping(1, 2)
        for entity in mapping.entityMappings {
            (entity.sourceEntityVersionHash, entity.destinationEntityVersionHash) = (nil, nil)
        }
        #expect(try found(mapping, from: 1, to: 2) == nil)
    }

    @Test("A chain does not use one for other versions, and the objects stay")
    func chain() throws {
        try makeStore()
        let known = KnownVersions((1...3).map(Self.version), mappings: [try Self.named(1, 2)])
        let migration = try ProgressiveMigration(at: folder.store, to: Self.model(3), over: known)
        #expect(migration.description == "1. “2” to “3”, inferred")
        try migration.run()
        #expect(try plainSQL("SELECT ZNAME FROM ZTAG", in: folder.store) == ["red"])
        #expect(try plainSQL("SELECT ZNAME FROM ZPERSON", in: folder.store) == ["Ann"])
    }

    @Test("A chain ends no step by a mapping model at a later version, which another mapping model is for")
    func chainOverAll() throws {
        try makeStore(1)
        let mappings = [try Self.named(1, 2), try Self.named(2, 3)]
        let known = KnownVersions((1...3).map(Self.version), mappings: mappings)
        let migration = try ProgressiveMigration(at: folder.store, to: Self.model(3), over: known)
        #expect(
            migration.description == """
                1. “1” to “2”, by the mapping model “1 to 2”
                2. “2” to “3”, by the mapping model “2 to 3”
                """)
    }

    @Test("A chain uses one to a later version, although an earlier version has the same entities without further ones")
    func chainBackAndForth() throws {
        let first = Self.version(1)
        let second = KnownVersion(
            name: "2", model: makeModel(makeEntity("Person", makeAttribute("title", .stringAttributeType))))
        let third = KnownVersion(name: "3", model: Self.model(2))
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: second.model, destinationModel: third.model)
        mapping.entityMappings = mapping.entityMappings.filter { $0.sourceEntityName == "Person" }
        let known = KnownVersions([first, second, third], mappings: [NamedMapping(name: "back", mapping: mapping)])
        #expect(known.mappedHops().mapValues(\.name)[.init(from: 1, to: 2)] == "back")
    }

    @Test("One that is given, and would lose the objects of an entity, is refused with the entity's name")
    func given() throws {
        try makeStore()
        let error = #expect(throws: NSError.self) {
            try StoreMigration(at: folder.store, to: Self.model(3), mapping: Self.mapping(1, 2))
        }
        #expect(error?.code == 134140)
        #expect(error?.localizedDescription.contains("no entity mapping for “Tag”") == true)
    }
}
