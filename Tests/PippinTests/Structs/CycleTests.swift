import Pippin
import Testing

struct Friend: CoreModel, Equatable {
    let id: String
    var name: String
    var friends: [Friend] = []
}

@Suite("Models that lead back to themselves")
struct CycleTests {
    @Test("are saved once, as the one nearest to what is saved says")
    func nearestCounts() async throws {
        let counter = try Counter(Friend.self)
        let ann = Friend(
            id: "a", name: "Ann", friends: [Friend(id: "b", name: "Bea", friends: [Friend(id: "a", name: "Old")])])
        try await counter.manager.save(ann)
        #expect(try counter.strings("SELECT ZNAME FROM ZFRIEND ORDER BY ZID") == ["Ann", "Bea"])
    }

    @Test("come back with themselves in them once, and are the same when saved again")
    func roundTrip() async throws {
        let counter = try Counter(Friend.self)
        let bea = Friend(id: "b", name: "Bea", friends: [Friend(id: "a", name: "Ann")])
        try await counter.manager.save(Friend(id: "a", name: "Ann", friends: [bea]))
        let ann = try #require(try await counter.manager.find(Friend.self, id: "a"))
        #expect(ann == Friend(id: "a", name: "Ann", friends: [bea]))
        try await counter.manager.save(ann)
        #expect(try await counter.manager.find(Friend.self, id: "b")?.friends.map(\.id) == ["a"])
        #expect(try counter.number("SELECT max(Z_OPT) FROM ZFRIEND") == 1, "nothing was written")
    }
}
