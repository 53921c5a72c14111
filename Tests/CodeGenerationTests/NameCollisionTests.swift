import Testing

@testable import CodeGeneration

@Suite("Names of a model that are in the way of its classes")
struct NameCollisionTests {
    private func entity(
        _ name: String, _ className: String? = nil, parent: String? = nil,
        _ codeGeneration: RecordEntity.CodeGeneration = .class, attributes: [RecordAttribute] = [],
        toManys: [String] = []
    ) -> RecordEntity {
        var entity = RecordEntity(
            name: name, className: className ?? name, parent: parent, codeGeneration: codeGeneration)
        entity.attributes = attributes
        entity.relationships = toManys.map { RecordRelationship(name: $0, destination: name, isToMany: true) }
        return entity
    }

    private func problems(_ entities: RecordEntity...) -> [String] {
        RecordModel(entities: entities).problems().map(\.description)
    }

    @Test("Two entities of one class, both of which would get its code")
    func oneClass() {
        #expect(
            problems(entity("A", "Book"), entity("B", "Book")) == [
                "entity “B”: its class “Book” is that of the entity “A” too, and is generated once"
            ])
        #expect(problems(entity("A", "Book"), entity("B", "Book", .none)).isEmpty)
    }

    @Test("Relationships whose methods have the same names, also an inherited one")
    func methods() {
        let problem = "its methods, such as “addToBooks”, would be those of “books” too"
        #expect(
            problems(entity("A", toManys: ["books", "Books"])) == ["entity “A”, property “Books”: \(problem)"])
        #expect(
            problems(entity("A", toManys: ["books"]), entity("B", parent: "A", toManys: ["Books"])) == [
                "entity “B”, property “Books”: \(problem)"
            ])
        #expect(problems(entity("A", toManys: ["books"]), entity("B", toManys: ["Books"])).isEmpty)
    }

    @Test(
        "A property that every managed object has",
        arguments: [
            "description", "debugDescription", "hash", "objectID", "entity", "isDeleted", "isInserted", "isUpdated",
            "isFault", "hasChanges", "managedObjectContext", "faultingState", "classForCoder", "observationInfo",
        ])
    func properties(name: String) {
        #expect(
            problems(entity("A", attributes: [RecordAttribute(name: name, type: .string)])) == [
                "entity “A”, property “\(name)”: every managed object has a property of this name already"
            ])
        #expect(problems(entity("A", nil, .none, attributes: [RecordAttribute(name: name, type: .string)])).isEmpty)
    }

    @Test("A property with a name that the generated code uses", arguments: ["_ManagedKeys", "managedValue"])
    func usedNames(name: String) {
        #expect(
            problems(entity("A", attributes: [RecordAttribute(name: name, type: .string)])) == [
                "entity “A”, property “\(name)”: the generated code uses this name"
            ])
    }

    @Test("A class with the name of a type that the generated code of the model uses, and of no other type")
    func types() {
        let reason = "has the name of a type that the generated code uses"
        #expect(problems(entity("Identifiable")) == ["entity “Identifiable”: its class “Identifiable” \(reason)"])
        var ordered = entity("Int", toManys: ["parts"])
        ordered.relationships[0].isOrdered = true
        #expect(problems(ordered) == ["entity “Int”: its class “Int” \(reason)"])
        let day = RecordAttribute(name: "day", type: .date)
        #expect(problems(entity("Date", attributes: [day])) == ["entity “Date”: its class “Date” \(reason)"])
        #expect(problems(entity("Date"), entity("URL")).isEmpty)
    }
}
