import CodeGeneration
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import ModelFiles
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Source models, written")
struct SourceWriterTests {
    /// Everything that the editor can say, in its own order.
    static let everything = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" \
        systemVersion="23E224" minimumToolsVersion="Automatic" sourceLanguage="Swift" usedWithCloudKit="YES" \
        userDefinedModelVersionIdentifier="v1">
            <entity name="Author" representedClassName=".Author" parentEntity="Thing" syncable="YES" \
        codeGenerationType="class">
                <attribute name="email" optional="YES" attributeType="String" minValueString="3" maxValueString="80" \
        defaultValueString="a &quot;b&quot; &lt;c&gt; &amp; d" regularExpressionString=".+@.+"/>
                <relationship name="books" optional="YES" toMany="YES" maxCount="9" deletionRule="Cascade" ordered="YES" \
        destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
                <fetchedProperty name="cheapBooks" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="price &lt; 10"/>
                </fetchedProperty>
            </entity>
            <entity name="Book" representedClassName="Library.Volume" parentEntity="Thing" versionHashModifier="2" \
        elementID="OldBook" syncable="YES">
                <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="home" optional="YES" attributeType="URI" defaultValueString="https://swift.org/a"/>
                <attribute name="isRead" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES"/>
                <attribute name="key" attributeType="UUID" \
        defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F" usesScalarValueType="NO" preserveAfterDeletion="YES"/>
                <attribute name="pages" optional="YES" attributeType="Integer 32" minValueString="1" \
        maxValueString="5000" defaultValueString="10" usesScalarValueType="YES" elementID="length"/>
                <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="9.99"/>
                <attribute name="published" optional="YES" attributeType="Date" minDateTimeInterval="-3600" \
        defaultDateTimeInterval="0.5" usesScalarValueType="NO"/>
                <attribute name="search" optional="YES" attributeType="String" derived="YES" \
        derivationExpression="canonical:(title)"/>
                <attribute name="shown" optional="YES" transient="YES" attributeType="Double" defaultValueString="0.0" \
        usesScalarValueType="YES"/>
                <attribute name="tags" optional="YES" attributeType="Transformable" \
        valueTransformerName="NSSecureUnarchiveFromData" customClassName="[String]"/>
                <attribute name="title" attributeType="String" versionHashModifier="3">
                    <userInfo>
                        <entry key="shown" value="first"/>
                    </userInfo>
                </attribute>
                <relationship name="author" minCount="1" maxCount="1" deletionRule="Deny" destinationEntity="Author" \
        inverseName="books" inverseEntity="Author"/>
                <relationship name="next" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="Book" \
        elementID="sequel"/>
                <fetchIndex name="byTitle">
                    <fetchIndexElement property="title" type="Binary" order="ascending"/>
                    <fetchIndexElement property="pages" type="Binary" order="descending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="key"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo>
                    <entry key="a" value=""/>
                    <entry key="b" value="2"/>
                </userInfo>
            </entity>
            <entity name="Thing" representedClassName="NSManagedObject" isAbstract="YES" syncable="YES"/>
            <fetchRequest name="Long" entity="Book" predicateString="pages &gt; $MINIMUM" fetchLimit="5" \
        includeSubentities="NO"/>
            <configuration name="Cloud" usedWithCloudKit="YES">
                <memberEntity name="Author"/>
                <memberEntity name="Book"/>
            </configuration>
        </model>
        """

    private func document(_ text: String = everything) throws -> ModelDocument {
        try SourceReader.document(of: Data(text.utf8))
    }

    @Test("A model with everything the editor can say is written as it was, byte for byte")
    func everything() throws {
        let header = try SourceHeader(contents: Data(Self.everything.utf8))
        let written = try SourceWriter.contents(of: document(), header: header)
        #expect(written == Self.everything)
        #expect(try SourceLoss.losses(of: document(), in: written) == [])
    }

    @Test(
        "What Xcode wrote is written again as it was, byte for byte",
        .enabled(if: Fixtures.areThere, ModelFixtures.skipped), arguments: ModelFixtures.sourceVersions)
    func fixtures(entry: String) throws {
        let (package, name) = try ModelFixtures.package(entry)
        let version = try #require(package.versions.first { $0.name == name })
        let contents = try Data(contentsOf: version.url.appendingPathComponent("contents"))
        let written = try SourceWriter.contents(
            of: try package.document(version: name), header: try SourceHeader(contents: contents))
        #expect(written == String(decoding: contents, as: UTF8.self))
    }

    @Test(
        "A compiled model written as a source says the same",
        .enabled(if: Fixtures.areThere, ModelFixtures.skipped), arguments: ModelFixtures.compiledVersions)
    func compiledFixtures(entry: String) throws {
        let (package, name) = try ModelFixtures.package(entry)
        let compiled = try package.document(version: name)
        let written = try SourceWriter.contents(of: compiled.withEditorDefaults)
        #expect(try SourceLoss.losses(of: compiled, in: written) == [])
        let back = try document(written)
        let source = try ModelPackage(at: package.url.deletingPathExtension().appendingPathExtension("xcdatamodeld"))
        #expect(try back.compiled == source.document(version: name).compiled)
    }

    /// The text of the editor for entities with composite attributes, and their types.
    private static let composites = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22158" \
        systemVersion="23A5257" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
            <entity name="House" representedClassName="NSManagedObject" syncable="YES">
                <attribute name="door" optional="YES" attributeType="Composite" composite="Spot"/>
                <attribute name="well" optional="YES" attributeType="Composite" composite="Spot"/>
            </entity>
            <composite name="Place">
                <attribute name="name" optional="YES" attributeType="String"/>
                <attribute name="depth" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
            </composite>
            <composite name="Spot">
                <attribute name="y" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
                <attribute name="x" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
            </composite>
        </model>
        """

    @Test("Composite types are written beside the entities, once each, their elements in their order")
    func composites() throws {
        let header = try SourceHeader(contents: Data(Self.composites.utf8))
        #expect(try SourceWriter.contents(of: document(Self.composites), header: header) == Self.composites)
    }

    @Test("Composite attributes of a compiled model get types by their names, numbered where the elements differ")
    func namelessComposites() throws {
        let compiled = try SourceReaderTests.read(
            """
            <entity name="A"><attribute name="spot" attributeType="Composite" composite="S"/></entity>
            <entity name="B"><attribute name="spot" attributeType="Composite" composite="T"/></entity>
            <entity name="C"><attribute name="spot" attributeType="Composite" composite="S"/></entity>
            <composite name="S"><attribute name="x" attributeType="Double"/></composite>
            <composite name="T"><attribute name="y" attributeType="Double"/></composite>
            """
        ).compiled
        let written = try SourceWriter.contents(of: compiled)
        #expect(written.components(separatedBy: #"composite="Spot""#).count == 3)
        #expect(written.components(separatedBy: #"composite="Spot2""#).count == 2)
        #expect(try document(written).compiled.entities == compiled.entities)
    }

    @Test("The order in which a model was made makes no difference")
    func order() throws {
        var shuffled = try document()
        shuffled.entities.reverse()
        for index in shuffled.entities.indices { shuffled.entities[index].properties.reverse() }
        shuffled.configurations = shuffled.configurations.mapValues { $0.reversed() }
        #expect(try SourceWriter.contents(of: shuffled) == SourceWriter.contents(of: document()))
    }

    @Test("A model in use is written without the indexes that Core Data makes by itself, and reads the same")
    func modelInUse() throws {
        let model = try ModelAssembler.model(try document())
        let written = try SourceWriter.contents(of: ModelDocument(model))
        #expect(try document(written).compiled == document().compiled)
    }

    @Test("What the editor has no place for is left out, and named")
    func losses() throws {
        let model = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Book"
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        title.userInfo = ["count": 3]
        title.setValidationPredicates([NSPredicate(format: "SELF BEGINSWITH %@", "A")], withValidationWarnings: ["no"])
        let cover = NSAttributeDescription()
        cover.name = "cover"
        cover.attributeType = .binaryDataAttributeType
        cover.defaultValue = Data([1])
        entity.properties = [title, cover]
        model.entities = [entity]
        let document = try ModelDocument(model)
        let losses = try SourceLoss.losses(of: document, in: SourceWriter.contents(of: document))
        #expect(
            losses.map(\.text) == [
                "Book.title: entries of its user info that are not texts",
                "Book.title: its validation predicates, which are no bounds or pattern",
                "Book.cover: its default value",
            ])
    }

    @Test(
        "A default that no text says, or that is beyond the type's range, is left out, and named",
        arguments: [
            (NSAttributeType.doubleAttributeType, ModelValue.double(.infinity)), (.floatAttributeType, .double(.nan)),
            (.decimalAttributeType, .decimal(.nan)), (.integer16AttributeType, .integer(40_000)),
            (.integer32AttributeType, .integer(.max)),
            (.dateAttributeType, .date(Date(timeIntervalSinceReferenceDate: .infinity))),
        ])
    func unreadableDefaults(type: NSAttributeType, value: ModelValue) throws {
        var attribute = AttributeDocument(type: type)
        attribute.defaultValue = value
        var document = ModelDocument()
        document.entities = [EntityDocument(name: "Book")]
        document.entities[0].properties = [PropertyDocument(name: "x", kind: .attribute(attribute))]
        let written = try SourceWriter.contents(of: document)
        #expect(!written.contains("default"))
        #expect(try SourceLoss.losses(of: document, in: written).map(\.text) == ["Book.x: its default value"])
    }
}

@Suite("Packages of source models, written")
struct SourcePackageWriterTests {
    private func version(_ name: String, identifier: String) throws -> SourcePackageWriter.Version {
        var document = try SourceReader.document(of: Data(SourceWriterTests.everything.utf8))
        document.versionIdentifiers = [identifier]
        return SourcePackageWriter.Version(name: name, document: document)
    }

    @Test("A package has a folder a version, says which is current, and is read again")
    func package() throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("Library.xcdatamodeld")
            let versions = [try version("Library", identifier: "1"), try version("Library 2", identifier: "2")]
            try SourcePackageWriter.write(versions, current: "Library 2", to: url)
            let package = try ModelPackage(at: url)
            #expect(package.versions.map(\.name) == ["Library", "Library 2"])
            #expect(try package.currentVersionName == "Library 2")
            #expect(try package.document() == versions[1].document)
            // Written again, the same; and nothing else is left in the folder.
            try SourcePackageWriter.write(versions, current: "Library", to: url)
            #expect(try ModelPackage(at: url).currentVersionName == "Library")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Library.xcdatamodeld"])
        }
    }

    @Test(
        "The current version is named as Xcode names it, byte for byte",
        .enabled(if: Fixtures.areThere, ModelFixtures.skipped))
    func currentVersion() throws {
        let file = Fixtures.url("cars/SampleModel.xcdatamodeld/.xccurrentversion")
        #expect(try SourcePackageWriter.currentVersion("SampleModel") == String(contentsOf: file, encoding: .utf8))
    }

    @Test("What cannot be written is refused, and what was there stays")
    func refusals() throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("Library.xcdatamodeld")
            let good = try version("Library", identifier: "1")
            try SourcePackageWriter.write([good], current: "Library", to: url)
            func message(_ versions: [SourcePackageWriter.Version], _ current: String, _ name: String) -> String {
                let target = folder.appendingPathComponent(name)
                let error = #expect(throws: NSError.self) {
                    try SourcePackageWriter.write(versions, current: current, to: target)
                }
                return error?.localizedDescription.replacing(folder.path, with: "") ?? ""
            }
            #expect(
                message([good], "Other", "Library.xcdatamodeld")
                    == "“/Library.xcdatamodeld”: the current version, “Other”, is not one of its versions.")
            #expect(
                message([good, good], "Library", "Library.xcdatamodeld")
                    == "“/Library.xcdatamodeld”: there are two versions named “Library”.")
            #expect(
                message([good], "Library", "Library.momd")
                    == "“/Library.momd”: its extension is “momd”; xcdatamodeld or xcdatamodel expected.")
            var wrong = good
            wrong.document.entities[0].userInfo = ["bell": .string("\u{7}")]
            #expect(
                message([wrong], "Library", "Library.xcdatamodeld")
                    == "“/Library.xcdatamodeld”: “value” of entity “\(wrong.document.entities[0].name)”, entry “bell”: XML "
                    + "cannot hold the character U+0007.")
            #expect(try ModelPackage(at: url).document() == good.document)
        }
    }

    @Test(
        "An .omo is read by way of the .mom beside it, and refused alone",
        .enabled(if: Fixtures.areThere, ModelFixtures.skipped))
    func optimizedForm() throws {
        let compiled = try ModelPackage(at: Fixtures.url("cars/SampleModel.momd/SampleModel.omo"))
        #expect(try compiled.model().entitiesByName["Car"]?.recordedVersionHash != nil)
        try inTestFolder { folder in
            let alone = folder.appendingPathComponent("SampleModel.omo")
            try FileManager.default.copyItem(at: Fixtures.url("cars/SampleModel.momd/SampleModel.omo"), to: alone)
            let error = #expect(throws: NSError.self) { try ModelPackage(at: alone) }
            #expect(error?.localizedDescription.contains("an .omo alone cannot be read") == true)
        }
    }
}
