import CoreData
import SQLiteEngine
import Testing

@Suite("Source models")
struct SourceReaderTests {
    /// The document of a model with these elements.
    static func read(_ elements: String, moduleName: String? = nil) throws -> ModelDocument {
        let xml = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="v1">
            \(elements)
            </model>
            """
        return try SourceReader.document(of: Data(xml.utf8), moduleName: moduleName)
    }

    private func attribute(_ xml: String) throws -> PropertyDocument {
        let document = try Self.read("<entity name=\"E\">\(xml)</entity>")
        return try #require(document.entities.first?.properties.first)
    }

    @Test("An entity has its name, parent, class, renaming identifier, modifier and user info")
    func entity() throws {
        let document = try Self.read(
            """
            <entity name="Base" isAbstract="YES"/>
            <entity name="Book" representedClassName=".Volume" parentEntity="Base" elementID="OldBook" syncable="YES"
                    versionHashModifier="m2" codeGenerationType="class">
                <userInfo><entry key="shelf" value="A"/><entry key="empty" value=""/></userInfo>
            </entity>
            """, moduleName: "Library")
        let book = try #require(document.entity(named: "Book"))
        #expect(document.entity(named: "Base")?.isAbstract == true)
        #expect(book.parentName == "Base")
        #expect(book.className == "Library.Volume")
        #expect(book.isClassInCurrentModule)
        #expect(book.codeGeneration == .classDefinition)
        #expect(book.renamingIdentifier == "OldBook")
        #expect(book.versionHashModifier == "m2")
        #expect(book.userInfo == ["shelf": .string("A"), "empty": .string("")])
        #expect(document.versionIdentifiers == ["v1"])
    }

    @Test(
        "Attributes have the type and the default value that the editor wrote",
        arguments: [
            (
                #"attributeType="Integer 16" defaultValueString="-3""#, NSAttributeType.integer16AttributeType,
                ModelValue.integer(-3)
            ),
            (#"attributeType="Integer 32" defaultValueString="70000""#, .integer32AttributeType, .integer(70_000)),
            (#"attributeType="Integer 64" defaultValueString="0.0""#, .integer64AttributeType, .integer(0)),
            (#"attributeType="Double" defaultValueString="2.5""#, .doubleAttributeType, .double(2.5)),
            (#"attributeType="Float" defaultValueString="1""#, .floatAttributeType, .double(1)),
            (
                #"attributeType="Decimal" defaultValueString="9.99""#, .decimalAttributeType,
                .decimal(Decimal(999) / 100)
            ),
            (#"attributeType="Boolean" defaultValueString="YES""#, .booleanAttributeType, .boolean(true)),
            (#"attributeType="String" defaultValueString="a &amp; b""#, .stringAttributeType, .string("a & b")),
            (
                #"attributeType="Date" defaultDateTimeInterval="86400""#, .dateAttributeType,
                .date(Date(timeIntervalSinceReferenceDate: 86_400))
            ),
            (
                #"attributeType="UUID" defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#, .UUIDAttributeType,
                .uuid(
                    UUID(
                        uuid: (
                            0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E,
                            0x5F
                        )))
            ),
            (
                #"attributeType="URI" defaultValueString="https://swift.org""#, .URIAttributeType,
                .url("https://swift.org")
            ),
        ])
    func types(xml: String, type: NSAttributeType, value: ModelValue) throws {
        let attribute = try attribute("<attribute name=\"a\" \(xml)/>").attribute
        #expect(attribute?.type == type)
        #expect(attribute?.defaultValue == value)
    }

    @Test("Attributes have their marks")
    func marks() throws {
        let property = try attribute(
            """
            <attribute name="photo" optional="YES" transient="YES" indexed="YES" attributeType="Binary"
                allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES" spotlightIndexingEnabled="YES"
                versionHashModifier="2" elementID="picture"/>
            """)
        #expect(property.isOptional)
        #expect(property.isTransient)
        #expect(property.isIndexed)
        #expect(property.isIndexedBySpotlight)
        #expect(property.versionHashModifier == "2")
        #expect(property.renamingIdentifier == "picture")
        #expect(property.attribute?.allowsExternalStorage == true)
        #expect(property.attribute?.preservesValueOnDeletion == true)
    }

    @Test("A transformable attribute has its transformer and class; a composite attribute has its elements")
    func transformableAndComposite() throws {
        let color = try attribute(
            #"<attribute name="color" attributeType="Transformable" valueTransformerName="T" customClassName="Color"/>"#
        )
        #expect(color.attribute?.valueTransformerName == "T")
        #expect(color.attribute?.customClassName == "Color")
        let plain = try attribute(#"<attribute name="color" attributeType="Transformable" customClassName="."/>"#)
        #expect(plain.attribute?.customClassName == nil && plain.attribute?.valueClassName == nil)

        let document = try Self.read(
            """
            <entity name="Quake"><attribute name="magnitude" attributeType="Composite" composite="Magnitude"/></entity>
            <composite name="Magnitude">
                <attribute name="richter" attributeType="Double"/>
                <attribute name="depth" optional="YES" attributeType="Integer 32"/>
            </composite>
            """)
        let elements = try #require(document.entities.first?.properties.first?.attribute?.elements)
        #expect(elements.map(\.name) == ["richter", "depth"])
        #expect(elements.last?.attribute?.type == .integer32AttributeType)
        let model = try ModelAssembler.model(document)
        let composite = model.entities.first?.attributesByName["magnitude"] as? NSCompositeAttributeDescription
        #expect(composite?.elements.map(\.name) == ["richter", "depth"])
    }

    @Test("A composite type may have elements of other composite types, and none at all")
    func nestedComposite() throws {
        let document = try Self.read(
            """
            <entity name="Quake"><attribute name="place" attributeType="Composite" composite="Place"/></entity>
            <composite name="Place">
                <attribute name="name" attributeType="String"/>
                <attribute name="spot" attributeType="Composite" composite="Spot"/>
                <attribute name="note" attributeType="Composite" composite="Note"/>
            </composite>
            <composite name="Spot"><attribute name="depth" attributeType="Double"/></composite>
            <composite name="Note"/>
            """)
        let elements = try #require(document.entities.first?.properties.first?.attribute?.elements)
        #expect(elements.map(\.name) == ["name", "spot", "note"])
        #expect(elements.map { $0.attribute?.elements.map(\.name) } == [[], ["depth"], []])
    }

    @Test("An empty class is NSManagedObject, as without one", arguments: ["", "."])
    func emptyClass(name: String) throws {
        let document = try Self.read(#"<entity name="A" representedClassName="\#(name)"/>"#)
        #expect(document.entities.first?.className == nil)
    }

    @Test("Relationships have destination, inverse, counts, delete rule and order")
    func relationships() throws {
        let document = try Self.read(
            """
            <entity name="Author">
                <relationship name="books" optional="YES" toMany="YES" minCount="1" maxCount="9" deletionRule="Cascade"
                    ordered="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
            </entity>
            <entity name="Book">
                <relationship name="author" maxCount="1" deletionRule="Deny" destinationEntity="Author"
                    inverseName="books" inverseEntity="Author"/>
                <relationship name="seller" maxCount="1" deletionRule="No Action" destinationEntity="Author"/>
            </entity>
            """)
        let model = try ModelAssembler.model(document)
        let books = try #require(model.entitiesByName["Author"]?.relationshipsByName["books"])
        #expect(books.isToMany)
        #expect(books.isOrdered)
        #expect(books.minCount == 1)
        #expect(books.maxCount == 9)
        #expect(books.deleteRule == .cascadeDeleteRule)
        #expect(books.inverseRelationship?.name == "author")
        let seller = try #require(model.entitiesByName["Book"]?.relationshipsByName["seller"])
        #expect(!seller.isToMany)
        #expect(seller.deleteRule == .noActionDeleteRule)
        #expect(seller.inverseRelationship == nil)
    }

    @Test("Constraints, indexes and configurations name what they cover")
    func constraintsAndIndexes() throws {
        let document = try Self.read(
            """
            <entity name="Book">
                <attribute name="isbn" attributeType="String"/>
                <attribute name="title" attributeType="String"/>
                <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="descending"/></fetchIndex>
                <fetchIndex name="both">
                    <fetchIndexElement property="title" type="Binary" order="ascending"/>
                    <fetchIndexElement property="isbn" type="Binary" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="isbn"/></uniquenessConstraint>
                    <uniquenessConstraint><constraint value="title"/><constraint value="isbn"/></uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <configuration name="Local"><memberEntity name="Book"/></configuration>
            """)
        let model = try ModelAssembler.model(document)
        let book = try #require(model.entitiesByName["Book"])
        #expect(book.uniquenessConstraintNames == [["isbn"], ["title", "isbn"]])
        #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Book"])
        // An index over one property marks it, and Core Data makes an index of the property's name besides.
        #expect(book.indexes.map(\.name) == ["title", "byTitle", "both"])
        #expect(book.indexes[1].elements.first?.isAscending == false)
        #expect(book.propertiesByName["title"]?.isIndexed == true)
        #expect(book.compoundIndexes as? [[String]] == [["title", "isbn"]])
    }

    @Test("An index over a relationship does not mark it, as in what Apple's compiler makes")
    func relationshipIndex() throws {
        let document = try Self.read(
            """
            <entity name="Book">
                <relationship name="next" optional="YES" maxCount="1" destinationEntity="Book"/>
                <fetchIndex name="byNext"><fetchIndexElement property="next" type="Binary" order="ascending"/></fetchIndex>
            </entity>
            """)
        let book = try #require(ModelAssembler.model(document).entitiesByName["Book"])
        #expect(book.propertiesByName["next"]?.isIndexed == false)
        #expect(book.indexes.map(\.name) == ["byNext"])
    }
}

@Suite("Source models that are wrong")
struct WrongSourceModelTests {
    @Test(
        "The error names line, entity and property, and what is wrong",
        arguments: [
            (#"<entity/>"#, "line 3: <entity> has no name."),
            (
                #"<entity name="A"><attribute name="x" attributeType="Int"/></entity>"#,
                "line 3, entity “A”, property “x”: “Int” is not an attribute type; one of Binary, Boolean, Composite, Date, "
                    + "Decimal, Double, Float, Integer 16, Integer 32, Integer 64, ObjectID, String, Transformable, URI, UUID, "
                    + "Undefined expected."
            ),
            (
                #"<entity name="A"><attribute name="x" attributeType="Integer 16" defaultValueString="70000"/></entity>"#,
                "line 3, entity “A”, property “x”: defaultValueString is “70000”; an integer of 16 bits expected."
            ),
            (
                #"<entity name="A"><attribute name="x" optional="MAYBE" attributeType="String"/></entity>"#,
                "line 3, entity “A”, property “x”: optional is “MAYBE”; YES or NO expected."
            ),
            (
                #"<entity name="A"><relationship name="r" maxCount="one" toMany="YES"/></entity>"#,
                "line 3, entity “A”, property “r”: maxCount is “one”; a whole number expected."
            ),
            (
                #"<entity name="A"><relationship name="r" minCount="3" maxCount="2" toMany="YES"/></entity>"#,
                "line 3, entity “A”, property “r”: minCount is 3, more than maxCount, which is 2."
            ),
            (
                #"<entity name="A"><relationship name="r" deletionRule="Explode"/></entity>"#,
                "line 3, entity “A”, property “r”: deletionRule is “Explode”; Nullify, Cascade, Deny or No Action expected."
            ),
        ])
    func reading(elements: String, message: String) throws {
        let error = #expect(throws: ModelFileError.self) { try SourceReaderTests.read(elements) }
        let text = error?.nsError(file: nil).localizedDescription
        #expect(text == "The model, \(message)")
    }

    @Test(
        "A model that does not hold together is refused, by name",
        arguments: [
            (#"<entity name="A"/><entity name="A"/>"#, ", entity “A”: there are two entities of this name."),
            (
                #"<entity name="A" parentEntity="B"/>"#,
                ", entity “A”: its parent entity “B” is not an entity of the model."
            ),
            (
                #"<entity name="A" parentEntity="B"/><entity name="B" parentEntity="A"/>"#,
                ", entity “A”: it inherits from itself, by way of “A”."
            ),
            (
                #"<entity name="A"><attribute name="x" attributeType="String"/><attribute name="x" attributeType="Date"/></entity>"#,
                ", entity “A”, property “x”: there are two properties of this name."
            ),
            (
                #"<entity name="A"><attribute name="x" attributeType="String"/></entity>"#
                    + #"<entity name="B" parentEntity="A"><attribute name="x" attributeType="String"/></entity>"#,
                ", entity “B”, property “x”: it is declared by the parent entity “A” already."
            ),
            (
                #"<entity name="A"><attribute name="x" attributeType="Undefined"/></entity>"#,
                ", entity “A”, property “x”: it has no type; only transient attributes may have none."
            ),
            (
                #"<entity name="A"><relationship name="r" destinationEntity="Nowhere"/></entity>"#,
                ", entity “A”, property “r”: its destination “Nowhere” is not an entity of the model."
            ),
            (
                #"<entity name="A"><relationship name="r" destinationEntity="A" inverseName="s"/></entity>"#,
                ", entity “A”, property “r”: its inverse “s” is not a relationship of the entity “A”."
            ),
            (
                #"<entity name="A"><uniquenessConstraints><uniquenessConstraint><constraint value="y"/>"#
                    + #"</uniquenessConstraint></uniquenessConstraints></entity>"#,
                ", entity “A”: a uniqueness constraint names “y”, which is not one of its properties: ."
            ),
            (
                #"<configuration name="C"><memberEntity name="Z"/></configuration>"#,
                ": the configuration “C” has the member “Z”, which is not an entity of the model."
            ),
            (
                #"<fetchRequest name="F" entity="Z"/>"#,
                ": the fetch request “F” is for “Z”, which is not an entity of the model."
            ),
        ])
    func assembling(elements: String, message: String) throws {
        let document = try SourceReaderTests.read(elements)
        let error = #expect(throws: ModelFileError.self) { try ModelAssembler.model(document) }
        let text = error?.nsError(file: nil).localizedDescription
        #expect(text == "The model\(message)")
    }

    @Test("Inheritance over thousands of levels is refused")
    func deepInheritance() throws {
        let entities =
            (0..<3_000).map { "<entity name='E\($0)' parentEntity='E\($0 + 1)'/>" } + ["<entity name='E3000'/>"]
        let document = try SourceReaderTests.read(entities.joined())
        let error = #expect(throws: ModelFileError.self) { try ModelAssembler.model(document) }
        #expect(error?.reason == "it inherits over more than 100 levels")
    }

    @Test("XML that is damaged, or something else, is refused")
    func damaged() {
        for text in ["", "model", "<model><entity name='A'></model>", "<plist/>", "\u{0}\u{1}"] {
            #expect(throws: ModelFileError.self) { try SourceReader.document(of: Data(text.utf8)) }
        }
        let unmatched = #expect(throws: ModelFileError.self) {
            try SourceReader.document(of: Data("<model>\n<entity name='A'></model>".utf8))
        }
        #expect(unmatched?.line == 2)
        #expect(unmatched?.reason == "the XML is damaged: an end tag does not match its start tag")
        // A name that is not UTF-8.
        let broken = Data("<model><entity na".utf8) + [0xF2] + Data("me='A'/></model>".utf8)
        #expect(throws: ModelFileError.self) { try SourceReader.document(of: broken) }
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(throws: ModelFileError.self) { try SourceReader.document(of: Data(deep.utf8)) }
    }
}
