import Pippin
import Testing

private struct Link: CoreModel, Equatable {
    let id: Int
    var next: [Link] = []
    var seen: Reference<Link>?
    static var schema: Schema<Link> { Schema(.owns(\.next)) }
}

private struct Folder: CoreModel, Equatable {
    let id: Int
    var boxes: [Box] = []
    static var schema: Schema<Folder> { Schema(.owns(\.boxes)) }
}

private struct Box: CoreModel, Equatable {
    let id: Int
    var links: [Link] = []
    var folders: [Folder] = []
    static var schema: Schema<Box> { Schema(.owns(\.links), .owns(\.folders)) }
}

@Suite("Models that are saved stay, where others that owned them go")
struct ReplacingTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Link.self, Folder.self) }

    @Test("replaceAll leaves what it is given, and what that leads to")
    func given() async throws {
        try await manager.save(Link(id: 2, next: [Link(id: 1, next: [Link(id: 0)]), Link(id: 3)]))
        try await manager.replaceAll(with: [Link(id: 0)])
        #expect(try await manager.fetch(Link.self) == [Link(id: 0)])
        try await manager.save(Link(id: 2, next: [Link(id: 1)]))
        let kept = Link(id: 0, seen: Reference(id: 1))
        try await manager.replaceAll(with: [kept])
        #expect(try await manager.fetch(Link.self, sortedBy: .ascending(\.id)) == [kept, Link(id: 1)])
        try await manager.replaceAll(with: [Link]())
        #expect(try counter.number("SELECT count(*) FROM ZLINK") == 0)
    }

    @Test("replaceAll leaves what others own through models of other types; what these keep, they keep")
    func through() async throws {
        try await manager.save(Folder(id: 1, boxes: [Box(id: 1, links: [Link(id: 1)], folders: [Folder(id: 2)])]))
        try await manager.replaceAll(with: [Link(id: 1)])
        #expect(try await manager.find(Folder.self, id: 1)?.boxes.first?.links == [Link(id: 1)])
        try await manager.replaceAll(with: [Folder(id: 2)])
        #expect(try await manager.fetch(Folder.self) == [Folder(id: 2)])
        #expect(try counter.number("SELECT (SELECT count(*) FROM ZBOX) + (SELECT count(*) FROM ZLINK)") == 0)
    }

    @Test("save leaves a model that is given, where the model in between leaves its owner")
    func inBetween() async throws {
        try await manager.save(Link(id: 2, next: [Link(id: 1, next: [Link(id: 0)])]))
        try await manager.save([Link(id: 2), Link(id: 0)])
        #expect(try await manager.fetch(Link.self, sortedBy: .ascending(\.id)) == [Link(id: 0), Link(id: 2)])
    }
}
