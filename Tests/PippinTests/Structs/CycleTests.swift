import Pippin
import Testing

struct Friend: CoreModel, Codable, Sendable, Equatable {
    let uid: String
    var name: String
    var friends: [Friend] = []
}

@Suite("Models that lead back to themselves")
struct CycleTests {
    @Test("are saved once, as the one nearest to what is saved says")
    func nearestCounts() async throws {
        let counter = try Counter(Friend.self)
        let ann = Friend(
            uid: "a", name: "Ann", friends: [Friend(uid: "b", name: "Bea", friends: [Friend(uid: "a", name: "Old")])])
        try await counter.manager.save(ann)
        #expect(try counter.strings("SELECT ZNAME FROM ZFRIEND ORDER BY ZUID") == ["Ann", "Bea"])
    }

    @Test("come back with themselves in them once, and are the same when saved again")
    func roundTrip() async throws {
        let counter = try Counter(Friend.self)
        let bea = Friend(uid: "b", name: "Bea", friends: [Friend(uid: "a", name: "Ann")])
        try await counter.manager.save(Friend(uid: "a", name: "Ann", friends: [bea]))
        let ann = try #require(try await counter.manager.fetch(Friend.self, uid: "a"))
        #expect(ann == Friend(uid: "a", name: "Ann", friends: [bea]))
        try await counter.manager.save(ann)
        #expect(try await counter.manager.fetch(Friend.self, uid: "b")?.friends.map(\.uid) == ["a"])
        #expect(try counter.number("SELECT max(Z_OPT) FROM ZFRIEND") == 1, "nothing was written")
    }
}
