import CoreData
import ModelFiles
import TestSupport
import Testing

/// Models in the file `elements` of Xcode 3, built here object by object.
@Suite("Source models of Xcode 3")
struct LegacySourceTests {
    /// A kennel: dogs, which are animals, belong to a person.
    private static func kennel() throws -> Data {
        var editor = LegacyEditor()
        func number(_ value: Int64) -> PropertyList { editor.builder.scalar(.integer(value)) }
        // Some have counts as decimals, of a class that only the editors of these years know.
        let one = editor.builder.add(
            classNames: ["NSDecimalNumberPlaceholder", "NSObject"],
            fields: [
                "NS.mantissa": .data(Data([0, 1] + Array(repeating: 0, count: 14))), "NS.mantissa.bo": .integer(2),
                "NS.length": .integer(1), "NS.exponent": .integer(0), "NS.negative": .boolean(false),
            ])
        func text(_ value: String?) -> PropertyList { editor.builder.string(value) }
        func flag(_ value: Bool) -> PropertyList { editor.builder.scalar(.boolean(value)) }
        let (animal, dog, person) = (editor.builder.reserve(), editor.builder.reserve(), editor.builder.reserve())
        let name = editor.property(
            "XDPMAttribute", "name",
            [
                ("XD_PAttK_attributeType", number(700)), ("XD_PPSK_isOptional", flag(false)),
                ("XD_PPSK_isIndexed", flag(true)), ("XD_PAttK_defaultValueAsString", text("Rex")),
                ("XD_PAttK_maxValueString", text("25")), ("XD_PPSK_elementID", text("title")),
            ])
        let legs = editor.property(
            "XDPMAttribute", "legs",
            [
                ("XD_PAttK_attributeType", number(100)), ("XD_PPSK_isOptional", flag(true)),
                ("XD_PAttK_defaultValueAsString", text("4")),
            ])
        let age = editor.property(
            "XDPMAttribute", "age", [("XD_PAttK_attributeType", number(100)), ("XD_PPSK_isTransient", flag(true))])
        let picture = editor.property(
            "XDPMAttribute", "picture",
            [("XD_PAttK_attributeType", number(1800)), ("XD_PAttK_valueTransformerName", text("Images"))])
        let dogsName = text("dogs")
        let dogs = editor.builder.add(
            classNames: ["XDPMRelationship", "NSObject"], fields: ["_name": dogsName])
        let owner = editor.property(
            "XDPMRelationship", "owner",
            [
                ("XD_PRK_destination", person), ("XD_PRK_inverseRelationship", dogs), ("XD_PRK_maxCount", number(1)),
                ("XD_PRK_minCount", one), ("XD_PRK_deleteRule", number(1)), ("XD_PPSK_isOptional", flag(true)),
            ])
        let toMany = editor.property(
            "XDPMRelationship", "dogs",
            [
                ("XD_PRK_destination", dog), ("XD_PRK_inverseRelationship", owner), ("XD_PRK_maxCount", number(0)),
                ("XD_PRK_deleteRule", number(2)), ("XD_PPSK_isOptional", flag(true)),
            ])
        let isAbstract = ("XD_PSK_isAbstract", flag(true))
        let constraints = ("XDPMUniquenessConstraints", editor.nameLists([["name"], ["name", "legs"]]))
        let indexes = ("XDPMCompoundIndexes", editor.nameLists([["legs", "name"]]))
        editor.fill(
            animal, entity: "Animal", [isAbstract, constraints, indexes],
            [("name", name), ("legs", legs), ("age", age)])
        let className = ("XD_PSK_entityClassName", text("KennelDog"))
        editor.fill(dog, entity: "Dog", [className], [("owner", owner), ("picture", picture)], parent: animal)
        editor.fill(person, entity: "Person", [("XD_PSK_entityClassName", text(nil))], [("dogs", toMany)])
        return try editor.elements([("Person", person), ("Dog", dog), ("Animal", animal)], identifier: "7")
    }

    @Test("They say what the XML of later versions says")
    func sameAsXML() throws {
        let later = """
            <model userDefinedModelVersionIdentifier="7">
                <entity name="Animal" isAbstract="YES">
                    <attribute name="age" transient="YES" attributeType="Integer 16"/>
                    <attribute name="legs" optional="YES" attributeType="Integer 16" defaultValueString="4"/>
                    <attribute name="name" attributeType="String" maxValueString="25" defaultValueString="Rex"
                        indexed="YES" elementID="title"/>
                    <uniquenessConstraints>
                        <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
                        <uniquenessConstraint><constraint value="name"/><constraint value="legs"/></uniquenessConstraint>
                    </uniquenessConstraints>
                    <compoundIndexes>
                        <compoundIndex><index value="legs"/><index value="name"/></compoundIndex>
                    </compoundIndexes>
                </entity>
                <entity name="Dog" representedClassName="KennelDog" parentEntity="Animal">
                    <relationship name="owner" optional="YES" minCount="1" maxCount="1" deletionRule="Nullify"
                        destinationEntity="Person" inverseName="dogs" inverseEntity="Person"/>
                    <attribute name="picture" attributeType="Transformable" valueTransformerName="Images"/>
                </entity>
                <entity name="Person">
                    <relationship name="dogs" optional="YES" toMany="YES" deletionRule="Cascade"
                        destinationEntity="Dog" inverseName="owner" inverseEntity="Dog"/>
                </entity>
            </model>
            """
        #expect(
            try SourceReader.document(ofElements: Self.kennel()).compiled
                == SourceReader.document(of: Data(later.utf8)).compiled)
    }

    /// An `.xcdatamodel` with these files.
    private func inModel(_ files: [String: Data], _ body: (URL) throws -> Void) throws {
        try inTestFolder { folder in
            let model = folder.appendingPathComponent("Kennel.xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            for (name, data) in files { try data.write(to: model.appendingPathComponent(name)) }
            try body(model)
        }
    }

    @Test("The folder of such a model is read like any other")
    func folder() throws {
        try inModel(["elements": Self.kennel(), "layout": Data()]) { model in
            let kennel = try #require(NSManagedObjectModel(contentsOf: model))
            #expect(kennel.entitiesByName["Dog"]?.attributesByName.keys.sorted() == ["age", "legs", "name", "picture"])
            #expect(kennel.entitiesByName["Person"]?.relationshipsByName["dogs"]?.deleteRule == .cascadeDeleteRule)
        }
    }

    @Test("A default that cannot be read is named without a line, and the model is read without it")
    func unreadableDefault() throws {
        var editor = LegacyEditor()
        let person = editor.builder.reserve()
        let (type, value) = (editor.builder.scalar(.integer(900)), editor.builder.string("12/08/2009"))
        let seen = editor.property(
            "XDPMAttribute", "seen", [("XD_PAttK_attributeType", type), ("XD_PAttK_defaultValueAsString", value)])
        editor.fill(person, entity: "Person", [], [("seen", seen)])
        let elements = try editor.elements([("Person", person)], identifier: nil)
        try inModel(["elements": elements]) { model in
            let package = try ModelPackage(at: model)
            #expect(
                try package.sourceWarnings().map(\.text) == [
                    "entity “Person”, property “seen”: defaultValueString is “12/08/2009”; a date expected. The attribute "
                        + "has no default"
                ])
            let read = try #require(NSManagedObjectModel(contentsOf: model))
            #expect(read.entitiesByName["Person"]?.attributesByName["seen"]?.attributeType == .dateAttributeType)
        }
    }

    @Test("Where the folder has the XML as well, that counts")
    func both() throws {
        let xml = Data("<model><entity name='Cat'/></model>".utf8)
        try inModel(["elements": Self.kennel(), "contents": xml]) { model in
            #expect(NSManagedObjectModel(contentsOf: model)?.entities.map(\.name) == ["Cat"])
        }
    }

    @Test("A file of another form is refused by its name")
    func damaged() throws {
        try inModel(["elements": Data("bplist00".utf8)]) { model in
            let error = #expect(throws: NSError.self) { try ModelPackage(at: model).model() }
            #expect(error?.code == 259)
            #expect(error?.localizedDescription.contains("Kennel.xcdatamodel/elements") == true)
        }
    }

    @Test("An attribute of an unknown type is refused by its name")
    func unknownType() throws {
        var editor = LegacyEditor()
        let entity = editor.builder.reserve()
        let type = ("XD_PAttK_attributeType", editor.builder.scalar(.integer(4242)))
        let shape = editor.property("XDPMAttribute", "shape", [type])
        editor.fill(entity, entity: "A", [], [("shape", shape)])
        let data = try editor.elements([("A", entity)], identifier: nil)
        let error = #expect(throws: ModelFileError.self) { try SourceReader.document(ofElements: data) }
        #expect(error?.property == "shape" && error?.reason == "4242 is not an attribute type")
    }
}
