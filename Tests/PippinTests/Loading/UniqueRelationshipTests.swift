import Pippin
import Testing

private struct Tag: CoreModel, Equatable { let id: String }

private struct Part: CoreModel, Equatable {
    let id: String
    var screws: [Screw] = []
    static var schema: Schema<Part> { Schema(.owns(\.screws)) }
}

private struct Screw: CoreModel, Equatable { let id: String }

private protocol Box: CoreModel, Equatable {
    init(id: String, name: String, maker: Tag?, tags: [Tag], parts: [Part])
}

private struct NewBox: Box {
    let id: String
    var name: String
    var maker: Tag?
    var tags: [Tag] = []
    var parts: [Part] = []
    static var schema: Schema<NewBox> { Schema(.unique(\.name, keeping: .new), .owns(\.parts), name: "Box") }
}

private struct StoredBox: Box {
    let id: String
    var name: String
    var maker: Tag?
    var tags: [Tag] = []
    var parts: [Part] = []
    static var schema: Schema<StoredBox> { Schema(.unique(\.name, keeping: .stored), .owns(\.parts), name: "Box") }
}

private struct Shelf<Content: Box>: CoreModel, Equatable {
    let id: String
    var boxes: [Content]
    static var schema: Schema<Shelf> { Schema(name: "Shelf") }
}

@Suite("Of two models with one unique value, the one that stays has the relationships")
struct UniqueRelationshipTests {
    private let place: StorePlace

    init() throws { place = try StorePlace() }

    private func box<Content: Box>(_ id: String, _ maker: String?, _ tags: [String], _ parts: [String]) -> Content {
        Content(
            id: id, name: "red", maker: maker.map(Tag.init), tags: tags.map(Tag.init),
            parts: parts.map { Part(id: $0, screws: [Screw(id: "s\($0)")]) })
    }

    private func saved<Content: Box>(_ boxes: [Content]) async throws -> [Content] {
        let manager = try place.loaded([Content.self])
        for box in boxes { try await manager.save(box) }
        return try await manager.fetch(Content.self)
    }

    @Test("The new model stays with what it was saved with; what the other one owned is deleted")
    func new() async throws {
        let new: NewBox = box("2", nil, ["b"], ["q"])
        #expect(try await saved([box("1", "m", ["a"], ["p"]), new]) == [new])
        #expect(try place.strings("SELECT ZID FROM ZPART") == ["q"])
        #expect(try place.strings("SELECT ZID FROM ZSCREW") == ["sq"])
        #expect(try place.strings("SELECT ZID FROM ZTAG ORDER BY 1") == ["a", "b", "m"])
        let other: NewBox = box("3", "n", [], [])
        #expect(try await saved([other]) == [other])
        #expect(try place.number("SELECT count(*) FROM ZPART") == 0)
    }

    @Test("The stored model stays with what it had; what the other one would own is not saved")
    func stored() async throws {
        let stored: StoredBox = box("1", "m", ["a"], ["p"])
        #expect(try await saved([stored, box("2", nil, ["b"], ["q"])]) == [stored])
        #expect(try place.strings("SELECT ZID FROM ZPART") == ["p"])
        #expect(try place.strings("SELECT ZID FROM ZSCREW") == ["sp"])
    }

    @Test("A model that stays as it was keeps its place alone")
    func bothStored() async throws {
        let manager = try place.loaded([Shelf<StoredBox>.self])
        let red = StoredBox(id: "1", name: "red")
        let blue = StoredBox(id: "2", name: "blue", tags: [Tag(id: "b")])
        try await manager.save(red)
        try await manager.save(Shelf(id: "s", boxes: [blue]))
        try await manager.save(StoredBox(id: "2", name: "red", tags: [Tag(id: "b")]))
        #expect(try await manager.find(Shelf<StoredBox>.self, id: "s")?.boxes == [blue])
        #expect(try await manager.find(StoredBox.self, id: "1") == red)
    }

    @Test("A model takes the place of one that goes, with what that one was saved with")
    func placeOfStored() async throws {
        let manager = try place.loaded([Shelf<NewBox>.self])
        try await manager.save(NewBox(id: "1", name: "red", maker: Tag(id: "m"), tags: [Tag(id: "a")]))
        let blue = NewBox(id: "2", name: "blue", parts: [Part(id: "p")])
        try await manager.save(Shelf(id: "s", boxes: [NewBox(id: "0", name: "pink"), blue]))
        let red = NewBox(id: "2", name: "red", tags: [Tag(id: "c")], parts: [Part(id: "p"), Part(id: "q")])
        try await manager.save(red)
        #expect(try await manager.find(Shelf<NewBox>.self, id: "s")?.boxes == [NewBox(id: "0", name: "pink"), red])
        #expect(try await manager.count(NewBox.self) == 2)
    }
}
