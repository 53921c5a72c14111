import CoreData
import Foundation
import Testing
@testable import ModelFiles

@testable import CoreDataModel

@Suite("Models with parts that cannot be stored, or are not what they seem")
struct SourceCheckTests {
    @Test(
        "Elements of a composite attribute have names of their own, and types",
        arguments: [
            (
                "<attribute name='x' attributeType='String'/><attribute name='x' attributeType='Double'/>",
                "two elements"
            ),
            ("<attribute name='x'/>", "“x” has no type"),
            ("<attribute name='' attributeType='String'/>", "has no name"),
        ])
    func elements(elements: String, reason: String) throws {
        let place = "<attribute name='place' attributeType='Composite'>\(elements)</attribute>"
        let error = #expect(throws: (any Error).self) {
            try DocumentCheck.check(SourceReaderTests.read("<entity name='A'>\(place)</entity>"))
        }
        #expect("\(try #require(error))".contains(reason), "\(String(describing: error))")
    }

    @Test("An element of an index with an unknown type counts as Binary, with a warning: no result depends on it")
    func unknownIndexType() throws {
        let xml = """
            <model><entity name="A">
            <attribute name="x" attributeType="String"/><attribute name="y" attributeType="String"/>
            <fetchIndex name="both"><fetchIndexElement property="x" type="Binary"/>
            <fetchIndexElement property="y" type="Value"/></fetchIndex></entity></model>
            """
        let index = try #require(SourceReader.document(of: Data(xml.utf8)).entities[0].indexes.first)
        #expect(index.elements.map(\.propertyName) == ["x", "y"])
        #expect(index.elements.map(\.type) == [.binary, .binary])
        #expect(
            try SourceReader.warnings(of: Data(xml.utf8)).map(\.text) == [
                "line 4, entity “A”: an element of the index “both” has the type “Value”; Binary or RTree expected. It "
                    + "is taken for Binary"
            ])
    }

    @Test("A former name in renamingIdentifier, which Xcode does not read, is a warning")
    func renamingIdentifier() throws {
        let source = "<model><entity name=\"Note\" renamingIdentifier=\"CDNote\"/></model>"
        #expect(
            try SourceReader.warnings(of: Data(source.utf8)).map(\.text) == [
                "line 1, entity “Note”: renamingIdentifier is “CDNote”, which Xcode does not read either: the former name is "
                    + "expected in elementID. Without it, a migration takes what was renamed for something new"
            ])
    }

    @Test("An element of a name that Xcode does not write is left out, with a warning")
    func unknownElements() throws {
        let xml = """
            <model><elements/>
            <entity name="A"><userInfo/>
                <attribut name="x" attributeType="String"/>
            </entity>
            <entitty name="B"/></model>
            """
        #expect(try SourceReader.document(of: Data(xml.utf8)).entities.map(\.properties.count) == [0])
        #expect(
            try SourceReader.warnings(of: Data(xml.utf8)).map(\.text) == [
                "line 5: <entitty> is not understood. It is left out",
                "line 3, entity “A”: <attribut> is not understood. It is left out",
            ])
    }

    @Test("An XML attribute of a name that Xcode does not write is left out, with a warning")
    func unknownAttributes() throws {
        let xml = """
            <model usedWithSwiftData="YES"><entity name="A" class="B">
                <attribute name="x" attributeType="String" optonal="YES" defaultValue="a"/>
                <relationship name="y" optional="YES" destinationEntity="A" inverse="y" maxCount="1"/>
                <fetchedProperty name="z" optional="YES"><fetchRequest name="f" entity="A"/></fetchedProperty>
                <fetchIndex name="i" unique="YES"><fetchIndexElement property="x"/></fetchIndex>
            </entity><elements><element name="A" positionX="0"/></elements></model>
            """
        #expect(
            try SourceReader.warnings(of: Data(xml.utf8)).map(\.text) == [
                "line 1, entity “A”: class is not understood. It is left out",
                "line 2, entity “A”, property “x”: defaultValue is not understood. It is left out",
                "line 2, entity “A”, property “x”: optonal is not understood. It is left out",
                "line 3, entity “A”, property “y”: inverse is not understood. It is left out",
                "line 5, entity “A”: unique is not understood. It is left out",
            ])
    }

    @Test("The decimals of a set that a predicate names are read from a model")
    func decimalsOfASet() throws {

        var builder = KeyedArchiveBuilder()
        let elements = try ["1.5", "2.5"].map { try builder.foundationValue(NSDecimalNumber(string: $0)) }
        let set = builder.set(elements)
        let constant = builder.add(
            classNames: ["NSConstantValueExpression", "NSExpression", "NSObject"],
            fields: ["NSExpressionType": .integer(0), "NSConstantValue": set])
        let tree = try PredicateArchiveReader.expression(builder.archive(root: constant).root())
        guard case .constant(let value) = tree, let read = value.elements else {
            Issue.record("\(tree)")
            return
        }
        #expect(Set(read.compactMap(\.doubleValue)) == [1.5, 2.5])
    }

    @Test("A row's archive of plain values whose class has an ancestor of another kind is left to Foundation")
    func ancestorOfAnotherKind() throws {
        var builder = KeyedArchiveBuilder()
        let null = builder.add(classNames: ["NSNull", "NSDecimalNumber"], fields: [:])
        #expect(PlainArchives.object(in: builder.archive(root: null)) == nil)
    }
}
