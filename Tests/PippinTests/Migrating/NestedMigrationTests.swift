import Pippin
import TestSupport
import Testing

/// Kept as JSON whatever it is, as earlier builds kept many nested structs.
private struct AsJSON<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
        _ = try decoder.singleValueContainer().decodeNil()
        value = try Value(from: decoder)
    }

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

private struct Parts: Codable, Equatable {
    struct Inner: Codable, Equatable {
        var id: UUID?
        var tags: [String] = []
    }
    var text = "t"
    var flag = true
    var number = Int.max
    var ratio = 0.1
    var amount = Decimal(string: "1234567.89")!
    var when = Date(timeIntervalSinceReferenceDate: 700_000_000.123)
    var bytes = Data([0, 255])
    var link = URL(string: "https://pippin.example/a")!
    var inner = Inner(id: UUID(), tags: ["x"])
    var maybe: Inner?
    var missing: Int?
}

private struct Address: Codable, Equatable {
    var town: String
}

private struct LongAddress: Codable, Equatable {
    var town: String
    var zip: String
}

private enum Old {
    struct Site: CoreModel {
        let id: Int
        var parts: AsJSON<Parts>
        var maybeParts: AsJSON<Parts>?
        var address = Address(town: "Bath")
        var maybeAddress: Address?
    }
}

@Suite("Nested structs that changed")
struct NestedMigrationTests {
    private let folder: TestFolder
    private let parts = Parts()
    private var file: StoreLocation { .file(folder.file("sites.sqlite")) }

    init() async throws {
        folder = try TestFolder()
        let manager = PersistenceManager(models: Old.Site.self, store: file)
        try manager.loadAndWait()
        try await manager.save([
            Old.Site(id: 1, parts: AsJSON(parts)),
            Old.Site(
                id: 2, parts: AsJSON(parts), maybeParts: AsJSON(parts), maybeAddress: Address(town: "Wells")),
        ])
    }

    @Test("get columns of their own where they were kept as JSON, and lose nothing")
    func json() async throws {
        enum New {
            struct Site: CoreModel {
                let id: Int
                var parts: Parts
                var maybeParts: Parts?
                var address: Address
                var maybeAddress: Address?
            }
        }
        let manager = PersistenceManager(models: New.Site.self, store: file)
        try manager.loadAndWait()
        let sites = try await manager.fetch(New.Site.self, sortedBy: .ascending(\.id))
        #expect(sites.map(\.parts) == [parts, parts])
        #expect(sites.map(\.maybeParts) == [nil, parts])
        #expect(try await manager.fetch(New.Site.self, where: \.maybeParts?.inner.tags == ["x"]).map(\.id) == [2])
    }

    @Test("are empty lists, and default values, where there was no property")
    func defaults() async throws {
        enum New {
            struct Site: CoreModel {
                let id: Int
                var parts: AsJSON<Parts>
                var maybeParts: AsJSON<Parts>?
                var address: LongAddress
                var maybeAddress: LongAddress?
                var tags: [String]
                var words: Set<String>
                var dims: [String: Int]
                var home: LongAddress
                var maybeHome: LongAddress?
                var other: LongAddress?
                static var schema: Schema<Site> {
                    Schema(
                        .defaultValue(\.address.zip, "?"), .defaultValue(\.maybeAddress!.zip, "??"),
                        .defaultValue(\.home, LongAddress(town: "a", zip: "b")),
                        .defaultValue(\.maybeHome, LongAddress(town: "c", zip: "d")))
                }
            }
        }
        let manager = PersistenceManager(models: New.Site.self, store: file)
        try manager.loadAndWait()
        let sites = try await manager.fetch(New.Site.self, sortedBy: .ascending(\.id))
        #expect(sites.allSatisfy { $0.tags.isEmpty && $0.words.isEmpty && $0.dims.isEmpty && $0.other == nil })
        #expect(sites.map(\.address.zip) == ["?", "?"])
        #expect(sites.map(\.maybeAddress) == [nil, LongAddress(town: "Wells", zip: "??")])
        #expect(sites.map(\.home.zip) == ["b", "b"])
        #expect(sites.map(\.maybeHome?.zip) == ["d", "d"])
    }

    @Test("stop the migration where a value would be missing, and the store is as it was")
    func missing() async throws {
        enum New {
            struct Site: CoreModel {
                let id: Int
                var parts: AsJSON<Parts>
                var maybeParts: AsJSON<Parts>?
                var address: LongAddress
                var maybeAddress: Address?
            }
        }
        await #expect {
            try await PersistenceManager(models: New.Site.self, store: file).load()
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .schemaChanged else { return false }
            return error.entity == "Site" && error.property == "address.zip"
                && error.localizedDescription.contains(".defaultValue")
        }
        let manager = PersistenceManager(models: Old.Site.self, store: file)
        try manager.loadAndWait()
        #expect(try await manager.fetch(Old.Site.self).count == 2)
    }
}

private struct Floor<Room: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    var number: Int
    var room: Room
}

private struct Hut<Room: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    var name: String
    var room: Room
    var spare: Room?
    var floor: Floor<Room>?
}

private enum V1 {
    struct Site: CoreModel {
        let id: Int
        var parts: AsJSON<Parts>
        var maybeParts: AsJSON<Parts>?
        var hut: Hut<AsJSON<Parts.Inner>>
        var address: Address
        var maybeAddress: Address?
    }
    struct Note: CoreModel {
        let id: Int
        var text: String
    }
}

private enum V2 {
    struct Site: CoreModel {
        let id: Int
        var parts: Parts
        var maybeParts: Parts?
        var hut: Hut<Parts.Inner>
        var address: LongAddress
        var maybeAddress: LongAddress?
        var home: LongAddress
        var maybeHome: LongAddress?
        var other: LongAddress?
        static var schema: Schema<Site> {
            Schema(
                .defaultValue(\.address.zip, "?"), .defaultValue(\.maybeAddress!.zip, "??"),
                .defaultValue(\.home, LongAddress(town: "a", zip: "b")),
                .defaultValue(\.maybeHome, LongAddress(town: "c", zip: "d")))
        }
    }
    struct Note: CoreModel {
        let id: Int
        var text: String
        var length: Int
        static var schema: Schema<Note> { Schema(.defaultValue(\.length, 0)) }
    }
}

/// A step with a closure migrates all models object by object.
@Suite("Nested structs that changed, where the store is opened and where a plan's closure changes another model")
struct NestedPlanTests {
    private let folder: TestFolder
    private let parts = Parts()
    private let room = Parts.Inner(id: UUID(), tags: ["y"])
    private var file: StoreLocation { .file(folder.file("sites.sqlite")) }
    private let first = ModelVersion("1", models: V1.Site.self, V1.Note.self)

    init() async throws {
        folder = try TestFolder()
        let manager = PersistenceManager(models: V1.Site.self, V1.Note.self, store: file)
        try manager.loadAndWait()
        let (hut, json) = (Hut(name: "h", room: AsJSON(room)), AsJSON(parts))
        let full = Hut(name: "f", room: AsJSON(room), spare: AsJSON(room), floor: Floor(number: 2, room: AsJSON(room)))
        try await manager.save([
            V1.Site(id: 1, parts: json, hut: hut, address: Address(town: "Bath")),
            V1.Site(
                id: 2, parts: json, maybeParts: json, hut: full, address: Address(town: "Bath"),
                maybeAddress: Address(town: "Wells")),
        ])
        try await manager.save(V1.Note(id: 1, text: "abc"))
    }

    @Test("lose nothing that was JSON, also within a struct that has columns", arguments: [false, true])
    func json(byPlan: Bool) async throws {
        let sites = try await migrated(byPlan)
        #expect(sites.map(\.parts) == [parts, parts])
        #expect(sites.map(\.maybeParts) == [nil, parts])
        #expect(
            sites.map(\.hut) == [
                Hut(name: "h", room: room),
                Hut(name: "f", room: room, spare: room, floor: Floor(number: 2, room: room)),
            ])
    }

    @Test("have default values where there was no property", arguments: [false, true])
    func defaults(byPlan: Bool) async throws {
        let sites = try await migrated(byPlan)
        #expect(sites.map(\.address.zip) == ["?", "?"])
        #expect(sites.map(\.maybeAddress) == [nil, LongAddress(town: "Wells", zip: "??")])
        #expect(sites.map(\.home.zip) == ["b", "b"])
        #expect(sites.map(\.maybeHome?.zip) == ["d", "d"])
        #expect(sites.map(\.other) == [nil, nil])
    }

    private func migrated(_ byPlan: Bool) async throws -> [V2.Site] {
        let manager = PersistenceManager(models: V2.Site.self, V2.Note.self, store: file)
        if byPlan {
            let second = ModelVersion("2", models: V2.Site.self, V2.Note.self)
            try await manager.load(
                migratingBy: MigrationPlan(from: first).changing(
                    to: second,
                    .model(V1.Note.self, to: V2.Note.self) {
                        V2.Note(id: $0.id, text: $0.text, length: $0.text.count)
                    }))
        } else {
            try await manager.load()
        }
        #expect(try await manager.fetch(V2.Note.self).map(\.length) == [byPlan ? 3 : 0])
        return try await manager.fetch(V2.Site.self, sortedBy: .ascending(\.id))
    }

    @Test("stop the migration where a value would be missing, and the store is as it was")
    func missing() async throws {
        enum New {
            struct Site: CoreModel {
                let id: Int
                var parts: AsJSON<Parts>
                var maybeParts: AsJSON<Parts>?
                var hut: Hut<AsJSON<Parts.Inner>>
                var address: LongAddress
                var maybeAddress: Address?
            }
        }
        let manager = PersistenceManager(models: New.Site.self, V2.Note.self, store: file)
        let plan = MigrationPlan(from: first).changing(
            to: ModelVersion("2", models: New.Site.self, V2.Note.self),
            .model(V1.Note.self, to: V2.Note.self) { V2.Note(id: $0.id, text: $0.text, length: $0.text.count) })
        await #expect {
            try await manager.load(migratingBy: plan)
        } throws: { error in
            error.localizedDescription.contains("address.zip")
        }
        let old = PersistenceManager(models: V1.Site.self, V1.Note.self, store: file)
        try old.loadAndWait()
        #expect(try await old.fetch(V1.Site.self).map(\.address.town) == ["Bath", "Bath"])
    }
}
