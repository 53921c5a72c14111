import CoreData
import ModelFiles
import Testing

@Suite("Archived fetch indexes")
struct IndexedExpressionArchiveTests {
    private func document() throws -> ModelDocument {
        try SourceReaderTests.read(
            """
            <entity name="Base"><attribute name="kind" optional="YES" attributeType="String"/></entity>
            <entity name="Task" parentEntity="Base">
                <attribute name="rank" optional="YES" attributeType="Integer 16"/>
                <attribute name="isDone" optional="YES" attributeType="Boolean"/>
                <fetchIndex name="byKind"><fetchIndexElement property="kind" type="Binary"/></fetchIndex>
                <fetchIndex name="byRank"><fetchIndexElement property="rank" type="Binary"/>
                    <fetchIndexElement expression="SELF" expressionType="ObjectID" type="Binary"/></fetchIndex>
                <fetchIndex name="bySize"><fetchIndexElement expression="abs:(rank)" type="Binary" order="descending"/>
                </fetchIndex>
            </entity>
            """)
    }

    private func objects(_ form: ModelArchiveWriter.Form = .compiled) throws -> [PropertyList] {
        try ModelArchiveWriter.archive(of: document(), form: form).objects
    }

    private func read(_ objects: [PropertyList]) throws -> ModelDocument {
        try ModelArchiveReader.document(
            of: KeyedArchive(
                propertyList: .dictionary([
                    "$objects": .array(objects), "$top": .dictionary(["root": .uid(1)]), "$version": .integer(100_000),
                ])))
    }

    private func places(_ key: String, in objects: [PropertyList]) -> [Int] {
        objects.indices.filter { objects[$0].dictionaryValue?[key] != nil }
    }

    private func referred(_ fields: [String: PropertyList], _ key: String, in objects: [PropertyList]) -> PropertyList?
    {
        guard case .uid(let place)? = fields[key] else { return nil }
        return objects[Int(place)]
    }

    @Test("have their expressions under the keys that Core Data reads, numbered over the model")
    func keys() throws {
        let objects = try objects()
        let elements = places("NSIndexedProperty", in: objects).compactMap { objects[$0].dictionaryValue }
        try #require(elements.count == 2)
        for (number, element) in elements.enumerated() {
            let name = PropertyList.string("expression\(number + 1)")
            #expect(referred(element, "NSPropertyName", in: objects) == name)
            let property = try #require(referred(element, "NSIndexedProperty", in: objects)?.dictionaryValue)
            #expect(referred(property, "NSPropertyName", in: objects) == name)
            #expect(referred(property, "NSRenamingIdentifier", in: objects) == name)
            #expect(property["NSExpressionType"] == .integer(number == 0 ? 2000 : 0))
            #expect(property["_P"] == .integer(247))
            #expect(
                Set(property.keys) == [
                    "$class", "NSEntity", "NSExpression", "NSExpressionType", "NSIsOptional", "NSIsReadOnly",
                    "NSPropertyName", "NSRenamingIdentifier", "_P",
                ])
        }
    }

    @Test("are read back as they were, in either form", arguments: [ModelArchiveWriter.Form.compiled, .cache])
    func roundTrip(form: ModelArchiveWriter.Form) throws {
        #expect(try read(objects(form)).withImpliedIndexes.compiled == document().withImpliedIndexes.compiled)
    }

    @Test("are read with the keys that earlier builds wrote")
    func earlierKeys() throws {
        var objects = try objects()
        for place in places("NSIndexedProperty", in: objects) {
            var element = objects[place].dictionaryValue ?? [:]
            guard case .uid(let property)? = element["NSIndexedProperty"] else { continue }
            (element["NSProperty"], element["NSIndexedProperty"]) = (element["NSIndexedProperty"], nil)
            element["NSPropertyName"] = nil
            objects[place] = .dictionary(element)
            var fields = objects[Int(property)].dictionaryValue ?? [:]
            (fields["NSExpressionResultType"], fields["NSExpressionType"]) = (fields["NSExpressionType"], nil)
            objects[Int(property)] = .dictionary(fields)
        }
        #expect(try read(objects).compiled == document().compiled)
    }

    @Test("are left out if they name what their entity does not have, and the model is read")
    func lostNames() throws {
        var objects = try objects(.cache)
        let place = try #require(
            places("NSFetchIndexElementType", in: objects).first { place in
                objects[place].dictionaryValue.flatMap { referred($0, "NSPropertyName", in: objects) }
                    == .string("rank")
            })
        var element = objects[place].dictionaryValue ?? [:]
        element["NSPropertyName"] = .uid(UInt32(objects.count))
        objects[place] = .dictionary(element)
        objects.append(.string("expression9"))
        let document = try read(objects)
        // The one over an inherited property stays.
        #expect(document.entity(named: "Task")?.indexes.map(\.name) == ["byKind", "bySize"])
        #expect(try ModelAssembler.model(document).entitiesByName["Task"]?.indexes.count == 2)
    }

    @Test("stand for the compound indexes that Core Data lists for them, over some rows or an expression")
    func compoundIndexes() throws {
        var document = try SourceReaderTests.read(
            """
            <entity name="Task">
                <attribute name="rank" optional="YES" attributeType="Integer 16"/>
                <attribute name="title" optional="YES" attributeType="String"/>
                <fetchIndex name="bySelf"><fetchIndexElement property="rank" type="Binary"/>
                    <fetchIndexElement expression="SELF" type="Binary"/></fetchIndex>
                <fetchIndex name="some" partialIndexPredicate="rank &gt; 1">
                    <fetchIndexElement property="rank" type="Binary"/>
                    <fetchIndexElement property="title" type="Binary"/></fetchIndex>
            </entity>
            """)
        document.entities[0].compoundIndexes = [
            ["rank", "self"], ["rank", "title"], ["title", "rank"],
            ["rank", "lost"],
        ]
        let names = try #require(document.withImpliedIndexes.entity(named: "Task")).indexes.map(\.name)
        #expect(names == ["title_rank", "bySelf", "some"])
    }
}
