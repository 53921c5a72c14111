import Pippin
import TestSupport
import Testing

private enum Old {
    struct Ticket: CoreModel {
        let id: Int
        var state: String
        var tags: [String]
        var place: Place
    }
    struct Place: Codable { var kind: String }
}

private enum State: String, Codable { case open, closed }

private enum WithState {
    struct Ticket: CoreModel {
        let id: Int
        var state: State
        var tags: [String]
        var place: Old.Place
    }
}

private enum WithNumbers {
    struct Ticket: CoreModel {
        let id: Int
        var state: String
        var tags: [Int]
        var place: Old.Place
    }
}

private enum WithKind {
    struct Place: Codable { var kind: State }
    struct Ticket: CoreModel {
        let id: Int
        var state: String
        var tags: [String]
        var place: Place
    }
}

private enum Forgiving {
    struct Ticket: CoreModel {
        let id: Int
        var tags: [Int]

        enum CodingKeys: CodingKey { case id, tags }

        static var schema: Schema<Ticket> { Schema(.removed("state"), .removed("place")) }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            do { tags = try values.decode([Int].self, forKey: .tags) } catch DecodingError.typeMismatch(_, let context)
            {
                tags = [context.codingPath.count]
            }
        }
    }
}

private enum Refusing {
    struct NoTags: Error {}

    struct Ticket: CoreModel {
        let id: Int
        var tags: [String]

        enum CodingKeys: CodingKey { case id, tags }

        static var schema: Schema<Ticket> { Schema(.removed("state"), .removed("place")) }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            tags = try values.decode([String].self, forKey: .tags)
            if tags == ["a"] { throw NoTags() }
        }
    }
}

@Suite("Stored values that a struct cannot read")
struct UnreadableValueTests {
    private let folder: TestFolder
    private var file: StoreLocation { .file(folder.file("tickets.sqlite")) }

    init() async throws {
        folder = try TestFolder()
        let ticket = Old.Ticket(id: 7, state: "lost", tags: ["a"], place: Old.Place(kind: "hall"))
        try await PersistenceManager(models: Old.Ticket.self, store: file).save(ticket)
    }

    private func error<Model: CoreModel>(_ type: Model.Type) async -> PersistenceError? {
        await #expect(throws: PersistenceError.self) {
            try await PersistenceManager(models: type, store: file).fetch(type)
        }
    }

    @Test("are named by the property, and the place in it")
    func property() async throws {
        let state = await error(WithState.Ticket.self)
        #expect(state?.property == "state")
        #expect(state?.identifier == "7")
        #expect(state?.localizedDescription.contains("“state”") == true)
        #expect(state?.localizedDescription.contains("lost") == true)
        let tags = await error(WithNumbers.Ticket.self)
        #expect(tags?.property == "tags")
        #expect(tags?.localizedDescription.contains("“tags[0]” is not of type Int") == true)
        let kind = await error(WithKind.Ticket.self)
        #expect(kind?.property == "place")
        #expect(kind?.localizedDescription.contains("“place.kind”") == true)
    }

    @Test("are named where the struct's own initializer refuses them")
    func refused() async throws {
        let tags = await error(Refusing.Ticket.self)
        #expect(tags?.code == .unreadable)
        #expect(tags?.identifier == "7")
        #expect(tags?.localizedDescription.contains("NoTags") == true)
        let store = PersistenceManager(models: Refusing.Ticket.self, store: file)
        let found = await #expect(throws: PersistenceError.self) { try await store.find(Refusing.Ticket.self, id: 7) }
        #expect(found == tags)
        let read = await #expect(throws: PersistenceError.self) {
            try await store.read { try $0.find(Refusing.Ticket.self, ids: [7]) }
        }
        #expect(read == tags)
    }

    @Test("are errors of Codable for the struct's own initializer, which may try another type")
    func codable() async throws {
        let manager = PersistenceManager(models: Forgiving.Ticket.self, store: file)
        #expect(try await manager.fetch(Forgiving.Ticket.self).map(\.tags) == [[2]])
    }
}
