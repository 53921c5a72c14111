import Pippin
import SQLiteConnection
import Testing

@Suite("Errors name what they are about")
struct NamedErrorTests {
    /// Refuses some values, but none that it is tried with.
    struct Percentage: CoreModel, Codable, Sendable {
        struct TooMuch: LocalizedError { var errorDescription: String? { "More than a hundred." } }
        let uid: String
        let value: Int

        init(uid: String, value: Int) { (self.uid, self.value) = (uid, value) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            uid = try container.decode(String.self, forKey: .uid)
            value = try container.decode(Int.self, forKey: .value)
            if value > 100 { throw TooMuch() }
        }
    }

    @Test("a model that its initializer refuses, by entity and identifier")
    func initializer() throws {
        let counter = try Counter(Percentage.self)
        try counter.manager.save([Percentage(uid: "fine", value: 1), Percentage(uid: "bad", value: 101)])
        let expected = PersistenceError.unreadable(
            entity: "Percentage", uid: "bad", key: "", reason: "init(from:) says: More than a hundred.")
        #expect(throws: expected) { try counter.manager.fetch(Percentage.self) }
        #expect(throws: expected) {
            try counter.manager.fetch(Percentage.self, context: counter.manager.workerContext)
        }
        #expect(expected.localizedDescription.contains("The Percentage 'bad' cannot be read"))
    }

    @Test("a value that does not fit, by entity, identifier and property")
    func value() throws {
        let counter = try Counter(Coin.self)
        try counter.manager.save(Coin(code: "EUR", worth: 1))
        let other = try Connection(path: counter.file.path, mode: .readWrite)
        try other.execute("UPDATE ZCOIN SET ZWORTH = NULL")
        #expect {
            try counter.manager.fetch(Coin.self)
        } throws: { error in
            guard case .unreadable("Coin", "EUR"?, let key, _)? = error as? PersistenceError else { return false }
            return key == "worth" || key == "value_in_euro"
        }
    }

    @Test("a reference that leads nowhere, by entity, property and identifier")
    func reference() throws {
        let counter = try Counter(Opinion.self)
        let opinion = Opinion(uid: "1", volume: Reference(uid: 9), stars: 3)
        #expect(throws: PersistenceError.missingReference(entity: "Opinion", key: "volume", uid: "9")) {
            try counter.manager.save(opinion)
        }
    }
}

@Suite("Saving looks relations up")
struct RelationQueryTests {
    /// Counts the fetches that go through it.
    private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
        var fetches: [String] = []

        override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
            fetches.append(request.entityName ?? "")
            return try super.fetch(request)
        }
    }

    @Test("in one query an entity, however many models there are")
    func queries() throws {
        let counter = try Counter(Opinion.self)
        let writers = (0..<5).map { Writer(uid: "\($0)", name: "N") }
        let volumes = (0..<100).map { Volume(uid: $0, title: "T", writer: writers[$0 % 5]) }
        try counter.manager.save(volumes)
        let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = counter.manager.container.persistentStoreCoordinator
        let opinions = (0..<100).map { Opinion(uid: "\($0)", volume: Reference(uid: $0), stars: 1) }
        try counter.manager.write(context: context) { access in
            try access.insertOrUpdate(opinions)
            try access.insertOrUpdate(volumes)
        }
        #expect(context.fetches.sorted() == ["Opinion", "Volume", "Volume", "Writer"])
        #expect(try counter.number("SELECT count(*) FROM ZOPINION") == 100)
    }
}
