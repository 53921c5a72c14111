import CoreData
import Foundation
import ModelFiles
import Testing

@Suite("Texts in the source that an attribute has from the type that it had before")
struct LeftoverSourceTests {
    private func read(_ attribute: String) throws -> PropertyDocument {
        try SourceReaderTests.read("<entity name='A'>\(attribute)</entity>").entities[0].properties[0]
    }

    private func warnings(_ attribute: String) throws -> [String] {
        try SourceReader.warnings(of: Data("<model><entity name='A'>\(attribute)</entity></model>".utf8)).map(\.text)
    }

    @Test(
        "A default of a type that has none is not a default, and a warning",
        arguments: ["Transformable", "Binary", "Undefined", "ObjectID"])
    func defaultWithoutMeaning(type: String) throws {
        let attribute = #"<attribute name="text" attributeType="\#(type)" transient="YES" defaultValueString="New"/>"#
        #expect(try read(attribute).attribute?.defaultValue == nil)
        #expect(
            try warnings(attribute) == [
                "line 1, entity “A”, property “text”: defaultValueString is “New”, which the type \(type) cannot have. "
                    + "The attribute has no default"
            ])
    }

    @Test(
        "Bounds and a pattern of a type that has none are not checked, with a warning for each",
        arguments: ["Boolean", "Binary", "Transformable", "URI", "UUID"])
    func boundsWithoutMeaning(type: String) throws {
        let attribute = """
            <attribute name="x" attributeType="\(type)" minValueString="3" maxValueString="80" \
            regularExpressionString="a.*"/>
            """
        #expect(try read(attribute).validation.isEmpty)
        let texts = try warnings(attribute)
        #expect(texts.count == 3)
        #expect(
            texts.first
                == "line 1, entity “A”, property “x”: minValueString is “3”, which the type \(type) cannot have. "
                + "The attribute has no minimum")
    }

    @Test("A bound of a date that is not a date is not checked; the other one is")
    func boundOfDate() throws {
        let attribute = """
            <attribute name="x" attributeType="Date" minValueString="3" maxValueString="80" maxDateTimeInterval="60"/>
            """
        #expect(try read(attribute).validation.count == 1)
        #expect(
            try warnings(attribute) == [
                "line 1, entity “A”, property “x”: minValueString is “3”; a date expected. The attribute has no minimum"
            ])
    }

    @Test("A number has no pattern, but its bounds are checked")
    func patternOfNumber() throws {
        let attribute = """
            <attribute name="x" attributeType="Integer 16" minValueString="3" regularExpressionString="a.*"/>
            """
        #expect(try read(attribute).validation.count == 1)
        #expect(try warnings(attribute).count == 1)
    }

    @Test("A bound that a number's type cannot read is left out with a warning; the other one stays")
    func unreadableBound() throws {
        let attribute = #"<attribute name="x" attributeType="Integer 16" minValueString="1" maxValueString="many"/>"#
        #expect(try read(attribute).validation.map { $0.predicate.format } == ["SELF >= 1"])
        #expect(
            try warnings(attribute) == [
                "line 1, entity “A”, property “x”: maxValueString is “many”; a value of the type Integer 16 expected. The "
                    + "attribute has no maximum"
            ])
    }

    @Test("An entry of the user info without a key is left out, and a warning with its line")
    func userInfo() throws {
        let source = """
            <model><entity name="A"><attribute name="x" attributeType="String"><userInfo>
            <entry key="" value="v"/><entry key="k" value="w"/>
            </userInfo></attribute></entity></model>
            """
        let property = try SourceReader.document(of: Data(source.utf8)).entities[0].properties[0]
        #expect(property.userInfo == ["k": .string("w")])
        #expect(
            try SourceReader.warnings(of: Data(source.utf8)).map(\.text) == [
                "line 2, entity “A”, property “x”: an entry of the user info has no key. It is left out"
            ])
    }

    @Test("A name for Spotlight that is not an expression is left out, and a warning")
    func spotlight() throws {
        let source = "<model><entity name=\"A\" coreSpotlightDisplayNameExpression=\"(a\"/></model>"
        #expect(try SourceReader.document(of: Data(source.utf8)).entities[0].spotlightDisplayName == nil)
        #expect(
            try SourceReader.warnings(of: Data(source.utf8)).map(\.text) == [
                "line 1, entity “A”: coreSpotlightDisplayNameExpression is “(a”; an expression expected. It is left out, and means "
                    + "nothing to a store"
            ])
    }
}
