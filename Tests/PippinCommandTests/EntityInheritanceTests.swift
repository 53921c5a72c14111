import Testing

@testable import StoreReading

@Suite("The inheritance that relationships of a store show")
struct EntityInheritanceTests {
    private func closed(_ entities: [String], _ pairs: [(String, String)]) throws -> EntityInheritance {
        var inheritance = EntityInheritance(entities)
        for (entity, parent) in pairs { inheritance.insert(entity, below: parent) }
        let isClosed = inheritance.close()
        try #require(isClosed)
        return inheritance
    }

    @Test("is a chain for each entity, and what is not known is a guess that is marked so")
    func chains() throws {
        let inheritance = try closed(["Cat", "Pet", "Zoo"], [("Cat", "Pet"), ("Cat", "Zoo")])
        #expect(inheritance.ancestors(of: "Cat") == ["Pet", "Zoo"])
        #expect(inheritance.guess?.entity == "Zoo" && inheritance.guess?.parent == "Pet")
        let known = try closed(["Cat", "Pet", "Zoo"], [("Cat", "Pet"), ("Cat", "Zoo"), ("Pet", "Zoo")])
        #expect(known.parent(of: "Cat") == "Pet" && known.guess == nil)
    }

    @Test("is left out where it is circular, or deeper than a model may have")
    func contradictions() {
        var circle = EntityInheritance(["A", "B"])
        circle.insert("A", below: "B")
        circle.insert("B", below: "A")
        let isOpen = !circle.close()
        #expect(isOpen)
        let names = (0..<200).map { "E\($0)" }
        var deep = EntityInheritance(names.sorted())
        for (upper, lower) in zip(names, names.dropFirst()) { deep.insert(lower, below: upper) }
        let isTooDeep = !deep.close()
        #expect(isTooDeep)
    }

    @Test("has an abstract entity above those to which one relationship leads, one for all that have some in common")
    func joins() throws {
        var inheritance = try closed(["A", "B", "C", "D", "E", "F"], [("F", "E")])
        inheritance.join([["A", "B"], ["C", "B"], ["D"], ["F", "E"]])
        #expect(inheritance.entities == ["A", "B", "C", "D", "E", "F", "A or B or C"])
        #expect(["A", "B", "C", "D"].map(inheritance.parent) == ["A or B or C", "A or B or C", "A or B or C", nil])
        #expect(inheritance.common(["A", "C"]) == "A or B or C")
        #expect(inheritance.common(["F", "E"]) == "E")
    }

    @Test("is found in a time that grows with the number of entities")
    func time() throws {
        let count = 20_000
        let entities = (0..<count).flatMap { ["A\($0)", "B\($0)", "T\($0)"] }.sorted()
        let pairs = (0..<count).flatMap { [("T\($0)", "A\($0)"), ("T\($0)", "B\($0)")] }
        let start = ContinuousClock.now
        var inheritance = try closed(entities, pairs)
        inheritance.join((1..<count).map { ["A\($0 - 1)", "A\($0)"] })
        #expect(inheritance.common(["T0", "T\(count - 1)"]) == "A0 or A1 or A10 or …")
        #expect(start.duration(to: .now) < .seconds(30))
    }
}
