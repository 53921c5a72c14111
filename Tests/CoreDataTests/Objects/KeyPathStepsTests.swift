import Testing

@testable import CoreData

@Suite("The steps of a key path, by what Swift prints of it")
struct KeyPathStepsTests {
    private func types(_ description: String) -> [String] {
        KeyPathSteps(description: description).types.map(String.init)
    }

    @Test("are types without Optional, or names")
    func types() {
        #expect(types(#"\Book.<computed 0x55 (Optional<Author>)>?.<computed 0x7f (String)>"#) == ["Author", "String"])
        #expect(types(#"\Book.title.count"#) == ["title", "count"])
    }

    @Test("end where the parenthesis of their type closes, whatever is in the type")
    func nestedTypes() {
        #expect(types(#"\Book.<computed 0x1 (Box<(Int, Set<(Int)>)>.Part)>"#) == ["Box<(Int, Set<(Int)>)>.Part"])
        #expect(
            types(#"\Book.<computed 0x1 (Optional<(Int) -> (Int)>)>!.<computed 0x2 (Int)>"#) == [
                "(Int) -> (Int)", "Int",
            ])
    }

    @Test("say whether a value is unwrapped by force, and whether one is read of a collection")
    func kinds() {
        #expect(KeyPathSteps(description: #"\Book.<computed 0x1 (Optional<String>)>!"#).unwraps)
        #expect(
            KeyPathSteps(description: #"\Book.<computed 0x1 (Array<String>)>.<computed 0x2 (String)>"#)
                .leadIntoCollection)
        #expect(!KeyPathSteps(description: #"\Book.<computed 0x1 (Array<String>)>"#).leadIntoCollection)
    }

    @Test("come to an end if the description breaks off")
    func brokenOff() {
        #expect(types(#"\Book.<computed 0x1 (Array<("#).count <= 2)
        #expect(types("").isEmpty)
    }
}
