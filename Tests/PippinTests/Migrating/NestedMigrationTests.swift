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
