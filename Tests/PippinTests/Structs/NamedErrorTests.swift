import PippinRecords
import CoreData
import SQLiteConnection
import Testing

@Suite("Errors name what they are about")
struct NamedErrorTests {
    /// Refuses some values, but none that it is tried with.
    struct Percentage: CoreModel {
        struct TooMuch: LocalizedError { var errorDescription: String? { "More than a hundred." } }
        let id: String
        let value: Int

        init(id: String, value: Int) { (self.id, self.value) = (id, value) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            value = try container.decode(Int.self, forKey: .value)
            if value > 100 { throw TooMuch() }
        }
    }

    @Test("name a model that its initializer refuses, by entity and identifier")
    func initializer() async throws {
        let counter = try Counter(Percentage.self)
        try await counter.manager.save([Percentage(id: "fine", value: 1), Percentage(id: "bad", value: 101)])
        let expected = PersistenceError.unreadable(
            entity: "Percentage", uid: "bad", key: "", reason: "init(from:) says: More than a hundred.")
        await #expect(throws: expected) { try await counter.manager.fetch(Percentage.self) }
        await #expect(throws: expected) {
            try await counter.manager.read(in: counter.manager.newWorkerContext()) { try $0.fetch(Percentage.self) }
        }
        #expect(expected.localizedDescription.contains("The Percentage 'bad' cannot be read"))
    }

    @Test("have what an initializer throws as their cause, whose code is not theirs")
    func cause() async throws {
        let counter = try Counter(Percentage.self)
        try await counter.manager.save(Percentage(id: "bad", value: 101))
        let error = await #expect(throws: PersistenceError.self) { try await counter.manager.fetch(Percentage.self) }
        #expect(error?.underlying is Percentage.TooMuch)
        let bridged = try #require(error) as NSError
        #expect(bridged.userInfo[NSUnderlyingErrorKey] is Percentage.TooMuch)
        #expect(bridged.domain == NSCocoaErrorDomain)
        #expect(bridged.code == NSCoreDataError)
        #expect(bridged.localizedDescription == error?.description)
    }

    /// Refuses values by an error without a description.
    struct Share: CoreModel {
        struct OutOfRange: Error { let value: Int }
        let id: String
        let value: Int

        init(id: String, value: Int) { (self.id, self.value) = (id, value) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            value = try container.decode(Int.self, forKey: .value)
            if value > 100 { throw OutOfRange(value: value) }
        }
    }

    @Test("name the values of an initializer's error that has no description")
    func undescribed() async throws {
        let counter = try Counter(Share.self)
        try await counter.manager.save(Share(id: "bad", value: 101))
        await #expect(
            throws: PersistenceError.unreadable(
                entity: "Share", uid: "bad", key: "", reason: "init(from:) says: OutOfRange(value: 101)")
        ) { try await counter.manager.fetch(Share.self) }
    }

    @Test("name a value that does not fit, by entity, identifier and property")
    func value() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
        let other = try Connection(path: counter.file.path, mode: .readWrite)
        try other.execute("UPDATE ZCOIN SET ZWORTH = NULL")
        await #expect {
            try await counter.manager.fetch(Coin.self)
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .unreadable else { return false }
            return error.entity == "Coin" && error.identifier == "EUR"
                && ["worth", "value_in_euro"].contains(error.property)
        }
    }

    @Test("name a reference that leads nowhere, by entity, property and identifier")
    func reference() async throws {
        let counter = try Counter(Opinion.self)
        let opinion = Opinion(id: "1", volume: Reference(id: 9), stars: 3)
        await #expect(throws: PersistenceError.missingReference(entity: "Opinion", key: "volume", uid: "9")) {
            try await counter.manager.save(opinion)
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

    @Test("takes one query an entity, however many models there are")
    func queries() async throws {
        let counter = try Counter(Opinion.self)
        let writers = (0..<5).map { Writer(id: "\($0)", name: "N") }
        let volumes = (0..<100).map { Volume(id: $0, title: "T", writer: writers[$0 % 5]) }
        try await counter.manager.save(volumes)
        let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = counter.manager.container.persistentStoreCoordinator
        let opinions = (0..<100).map { Opinion(id: "\($0)", volume: Reference(id: $0), stars: 1) }
        try counter.manager.writeAndWait(in: context) { access in
            try access.save(opinions)
            try access.save(volumes)
        }
        #expect(context.fetches.sorted() == ["Opinion", "Volume", "Volume", "Writer"])
        #expect(try counter.number("SELECT count(*) FROM ZOPINION") == 100)
    }
}
