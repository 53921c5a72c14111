import Pippin
import TestSupport
import Testing

private struct Land: CoreModel, Equatable {
    let id: String
    var name: String
}

private struct Profile: CoreModel, Equatable {
    let id: Int
    var text: String
}

private struct User: CoreModel, Equatable {
    let id: Int
    var followers: Int
    var land: Land?
    var profiles: [Profile] = []
    static var schema: Schema<User> { Schema(.owns(\.profiles)) }
}

private struct Measure: CoreModel, Equatable {
    let id: Int
    var size: Double
}

private struct Post: CoreModel, Equatable {
    let id: Int
    var user: User
    var place: Land?
}

@Suite("Models that several records of an import contain")
struct RepeatedImportTests {
    @Test("are written once a batch, as the last record has them", arguments: [(1, 1_000), (2, 500), (500, 2)])
    func changing(batchSize: Int, saves: Int64) async throws {
        let counter = try Counter(Post.self)
        let posts = (1...1_000).map { Post(id: $0, user: User(id: 7, followers: $0)) }
        let report = try await counter.manager.importModels(posts, batchSize: batchSize)
        #expect(report.inserted == 1_000 && report.refused.isEmpty)
        #expect(try counter.number("SELECT ZFOLLOWERS FROM ZUSER") == 1_000)
        #expect(try counter.number("SELECT Z_OPT FROM ZUSER") == saves)
        #expect(try counter.number("SELECT count(*) FROM ZPOST WHERE ZUSER IS NOT NULL") == 1_000)
    }

    @Test("are counted alike whether or not another line of their batch is refused", arguments: [false, true])
    func counts(hasRefused: Bool) async throws {
        let manager = PersistenceManager(models: Measure.self, store: .memory)
        try await manager.save([Measure(id: 3, size: 3), Measure(id: 4, size: 4), Measure(id: 5, size: 5)])
        // New, changed, changed by the last line only, and the same.
        var measures = [1, 3, 4, 5, 1, 3, 4, 5].enumerated().map { place, id in
            Measure(id: id, size: id == 5 || (id == 4 && place < 4) ? Double(id) : Double(10 * id + place))
        }
        if hasRefused {
            measures.insert(Measure(id: 9, size: .nan), at: 3)
            measures.insert(Measure(id: 5, size: .nan), at: 9)
        }
        let report = try await manager.importModels(measures)
        #expect(report.inserted == 1 && report.updated == 2 && report.unchanged == 1 && report.superseded == 4)
        #expect(report.refused.map(\.position) == (hasRefused ? [4, 10] : []))
        #expect(report.total == measures.count)
        let sizes = try await manager.fetch(Measure.self, sortedBy: .ascending(\.id)).map(\.size)
        #expect(sizes == [14, 35, 46, 5])
    }

    private func stored(_ posts: [Post], batchSize: Int) async throws -> [String] {
        let counter = try Counter(Post.self)
        let report = try await counter.manager.importModels(posts, batchSize: batchSize)
        #expect(report.inserted == posts.count)
        let users = try await counter.manager.fetch(User.self, sortedBy: .ascending(\.id))
        let lands = try await counter.manager.fetch(Land.self, sortedBy: .ascending(\.id))
        let profiles = try await counter.manager.fetch(Profile.self, sortedBy: .ascending(\.id))
        return users.map { "\($0.id) \($0.followers) \($0.land?.id ?? "-") \($0.profiles.map(\.id))" }
            + lands.map { "\($0.id) \($0.name)" } + profiles.map { "\($0.id) \($0.text)" }
    }

    @Test("lead where the last record leads, and all that a record has is saved, whatever the size of the batches")
    func relationships() async throws {
        let posts = [
            Post(id: 1, user: User(id: 7, followers: 1, land: Land(id: "a", name: "A 1"))),
            Post(id: 2, user: User(id: 7, followers: 2, land: Land(id: "b", name: "B 2")), place: nil),
            Post(id: 3, user: User(id: 8, followers: 3, land: Land(id: "a", name: "A 3"))),
            Post(id: 4, user: User(id: 7, followers: 4, land: nil), place: Land(id: "b", name: "B 4")),
            Post(id: 5, user: User(id: 8, followers: 5, land: Land(id: "b", name: "B 5"))),
            Post(id: 6, user: User(id: 7, followers: 4, land: Land(id: "c", name: "C 6"))),
            Post(id: 7, user: User(id: 8, followers: 5, land: Land(id: "c", name: "C 6"))),
        ]
        let expected = ["7 4 c []", "8 5 c []", "a A 3", "b B 5", "c C 6"]
        for size in [1, 2, 3, 4, 500] { #expect(try await stored(posts, batchSize: size) == expected, "\(size)") }
    }

    @Test("come back from an earlier record's value to it if the last one has that again")
    func again() async throws {
        let posts = [1, 2, 1].enumerated().map { Post(id: $0, user: User(id: 7, followers: $1)) }
        for size in [1, 2, 500] { #expect(try await stored(posts, batchSize: size) == ["7 1 - []"]) }
        let places = ["X", "Y", "X"].enumerated().map {
            Post(id: $0, user: User(id: 7, followers: 1), place: Land(id: "l", name: $1))
        }
        for size in [1, 2, 500] { #expect(try await stored(places, batchSize: size) == ["7 1 - []", "l X"]) }
    }

    @Test("do not leave what they owned in an earlier record")
    func owned() async throws {
        let posts = [
            Post(id: 1, user: User(id: 7, followers: 1, profiles: [Profile(id: 1, text: "one")])),
            Post(id: 2, user: User(id: 7, followers: 1, profiles: [Profile(id: 2, text: "two")])),
        ]
        for size in [1, 500] {
            #expect(try await stored(posts, batchSize: size) == ["7 1 - [2]", "2 two"])
        }
    }

    @Test("keep only few records from being saved together if a later record has others that they own")
    func ownedAmongMany() async throws {
        let counter = try Counter(Post.self)
        var posts = (1...500).map { Post(id: $0, user: User(id: 7, followers: $0)) }
        for index in [200, 201] {
            posts[index].user = User(id: 9, followers: 1, profiles: [Profile(id: index, text: "new")])
        }
        let report = try await counter.manager.importModels(posts, batchSize: 500)
        #expect(report.inserted == 500 && report.refused.isEmpty)
        #expect(try await counter.manager.fetch(Profile.self).map(\.id) == [201])
        #expect(try counter.number("SELECT ZFOLLOWERS FROM ZUSER WHERE ZID = 7") == 500)
        let saves = try #require(try counter.number("SELECT Z_OPT FROM ZUSER WHERE ZID = 7"))
        #expect(saves < 20)
    }

    @Test("are saved also if a later record with the identifier of theirs no longer has them")
    func inReplacedRecords() async throws {
        let posts = [
            Post(id: 1, user: User(id: 7, followers: 2, land: Land(id: "a", name: "A"))),
            Post(id: 1, user: User(id: 8, followers: 5)),
        ]
        for size in [1, 2, 500] {
            let counter = try Counter(Post.self)
            try await counter.manager.save(User(id: 7, followers: 1))
            let report = try await counter.manager.importModels(posts, batchSize: size)
            #expect(report.inserted == 1 && report.total == 2)
            #expect(try await counter.manager.fetch(Post.self) == [posts[1]])
            let users = try await counter.manager.fetch(User.self, sortedBy: .ascending(\.id))
            #expect(users == [posts[0].user, posts[1].user], "\(size)")
        }
    }

    @Test("are refused with their record, also if a later record has its identifier")
    func inRefusedRecords() async throws {
        struct Measurement: CoreModel {
            let id: Int
            var value: Double
            var place: Land?
        }
        let values = [
            Measurement(id: 1, value: .nan, place: Land(id: "a", name: "A")),
            Measurement(id: 1, value: 2, place: Land(id: "b", name: "B")),
        ]
        for size in [1, 2, 500] {
            let counter = try Counter(Measurement.self)
            let report = try await counter.manager.importModels(values, batchSize: size)
            #expect(report.refused.map(\.position) == [1] && report.inserted == 1)
            #expect(try await counter.manager.fetch(Land.self).map(\.id) == ["b"], "\(size)")
        }
    }

    @Test("are refused with their record if that has two of them that differ")
    func withinOne() async throws {
        struct Pair: CoreModel {
            let id: Int
            var first: Land
            var second: Land
        }
        let counter = try Counter(Pair.self)
        let pairs = [
            Pair(id: 1, first: Land(id: "a", name: "A"), second: Land(id: "a", name: "A")),
            Pair(id: 2, first: Land(id: "a", name: "B"), second: Land(id: "a", name: "C")),
        ]
        for size in [1, 500] {
            let report = try await counter.manager.importModels(pairs, batchSize: size)
            #expect(report.refused.map(\.position) == [2])
        }
    }
}
