import Pippin
import Testing

@Suite("Structs with unusual properties")
struct UnusualStructTests {
    /// Words of Swift, of SQL and of the predicate language, and members that objects have of their own.
    private struct Words: CoreModel, Equatable {
        let id: String
        var `class` = "c"
        var `in` = true
        var select = 1
        var order = 2
        var any = 3
        var first = 4
        var size = 5
        var null: String?
        var hash = 6
        var entity = "e"
        var description = "d"
        var isDeleted = false
    }

    private struct Größe: CoreModel, Equatable {
        let id: String
        var länge: Double
        var 名前: String
        var name = 1
        var Name = 2
    }

    private struct Schedule: CoreModel, Equatable {
        let id: Double
        var hours: Range<Int>
        var limits: ClosedRange<Double>?
        var zone: TimeZone
        var span: DateInterval
        var length: Measurement<UnitLength>
        var codes: [String: [Int?]]
    }

    @Test("may call them what they like")
    func words() async throws {
        let counter = try Counter(Words.self, Größe.self)
        let (words, size) = (Words(id: "w"), Größe(id: "ü", länge: 1.5, 名前: "花子"))
        try await counter.manager.save(words)
        try await counter.manager.save(size)
        #expect(
            try await counter.manager.fetch(Words.self, where: \.class == "c" && \.in == true && \.select == 1) == [
                words
            ])
        #expect(
            try await counter.manager.fetch(Words.self, where: \.any == 3 && \.first == 4 && \.size == 5) == [words])
        #expect(try await counter.manager.fetch(Words.self, where: \.hash == 6 && \.entity == "e") == [words])
        #expect(try await counter.manager.fetch(Words.self, where: \.description == "d" && \.null == nil) == [words])
        #expect(
            try await counter.manager.fetch(Words.self, where: \.isDeleted == false, sortedBy: .ascending(\.order))
                .count == 1
        )
        #expect(
            try await counter.manager.fetch(Größe.self, where: \.länge > 1 && \.名前 == "花子" && \.Name == 2) == [size])
    }

    @Test("may have Foundation's values, and be told apart by fractions")
    func values() async throws {
        let counter = try Counter(Schedule.self)
        let schedules = [1.25, 1.5].map { id in
            Schedule(
                id: id, hours: 8..<17, limits: nil, zone: .gmt,
                span: DateInterval(start: Date(timeIntervalSinceReferenceDate: 0), duration: 60),
                length: Measurement(value: 2, unit: .meters), codes: ["a": [1, nil]])
        }
        try await counter.manager.save(schedules)
        #expect(try await counter.manager.fetch(Schedule.self, sortedBy: .ascending(\.id)) == schedules)
        #expect(try await counter.manager.find(Schedule.self, id: 1.5) == schedules[1])
    }

    @Test("may say a rule twice")
    func rules() async throws {
        struct Twice: CoreModel {
            let id: Int
            var name: String
            static var schema: Schema<Twice> {
                Schema(.index(\.name), .index(\.name), .unique(\.name), .unique(\.name), .unique(\.id))
            }
        }
        let counter = try Counter(Twice.self)
        try await counter.manager.save(Twice(id: 1, name: "x"))
        #expect(try await counter.manager.fetch(Twice.self).count == 1)
    }
}

@Suite("A struct that cannot be kept")
struct RefusedStructTests {
    private func refusal(_ types: any CoreModel.Type...) -> String {
        let manager = PersistenceManager(models: types, store: .memory)
        do { try manager.loadAndWait() } catch { return error.localizedDescription }
        return ""
    }

    struct Page: CoreModel {
        let id: Int
        var pagesOfLedger: Int
    }
    struct Ledger: CoreModel {
        let id: Int
        var pages: [Page]
    }

    @Test("is refused where a property has the name that the other side of a relationship gets")
    func inverseName() {
        let text = refusal(Ledger.self)
        #expect(text.contains("'pages'"))
        #expect(text.contains("Schema(.inverse(\\.pages, of: \\Page.pagesOfLedger))"))
    }

    struct Child: CoreModel {
        let id: Int
        var parent: Reference<Parent>?
    }
    struct Parent: CoreModel {
        let id: Int
        var sons: [Child]
        var daughters: [Child]
        static var schema: Schema<Parent> {
            Schema(.inverse(\.sons, of: \Child.parent), .inverse(\.daughters, of: \Child.parent))
        }
    }

    @Test("is refused where two properties have one other side")
    func sharedInverse() {
        #expect(refusal(Parent.self).contains("'Child.parent' is the other side of another property"))
    }

    @Test("is refused where its name differs from another's by capital letters only")
    func names() {
        struct Item: CoreModel { let id: Int }
        struct ITEM: CoreModel { let id: Int }
        #expect(refusal(Item.self, ITEM.self).contains("would both be the entity 'ITEM'"))
    }

    @Test("is refused where predicates would take a property for the object itself, or a name is empty")
    func reserved() {
        struct Row: CoreModel {
            let id: Int
            var objectID: String
        }
        struct Nameless: CoreModel {
            let id: Int
            static var schema: Schema<Nameless> { Schema(name: "") }
        }
        #expect(refusal(Row.self).contains("because of 'objectID'"))
        #expect(refusal(Nameless.self).contains("an empty name"))
    }
}

@Suite("A value that no store can keep")
struct UnwritableValueTests {
    private struct Gauge: CoreModel, Equatable {
        let id: Int
        var count: UInt64 = 0
        var level = 0.0
        var ratio: Float?
        var amount: Decimal = 0
        var when = Date(timeIntervalSinceReferenceDate: 0)
        var history: [Double] = []
        var prices: [Decimal] = []
    }

    private let counter: Counter

    init() throws { counter = try Counter(Gauge.self) }

    private func refusedKey(_ change: (inout Gauge) -> Void) -> String? {
        var gauge = Gauge(id: 2)
        change(&gauge)
        do {
            try counter.manager.writeAndWait { try $0.save([Gauge(id: 1), gauge]) }
            return "saved"
        } catch let error as PersistenceError where error.code == .unwritable {
            return error.identifier == "2" ? error.property : nil
        } catch { return "\(error)" }
    }

    @Test("is refused with the model and the property, and nothing is saved")
    func values() async throws {
        #expect(refusedKey { $0.count = .max } == "count")
        #expect(refusedKey { $0.level = .nan } == "level")
        #expect(refusedKey { $0.ratio = .nan } == "ratio")
        #expect(refusedKey { $0.amount = .nan } == "amount")
        #expect(refusedKey { $0.when = Date(timeIntervalSinceReferenceDate: .nan) } == "when")
        #expect(refusedKey { $0.history = [.nan] } == "history")
        #expect(refusedKey { $0.prices = [1, .nan] } == "prices")
        #expect(try await counter.manager.fetch(Gauge.self).count == 0)
    }

    @Test(
        "is a decimal of more digits than a store keeps, which is refused and not rounded",
        arguments: [
            "0.1234567890123456", "12345678901234567890", "-9223372036854775809", "1234567890.1234567",
        ])
    func longDecimals(_ text: String) throws {
        let amount = try #require(Decimal(string: text))
        #expect(refusedKey { $0.amount = amount } == "amount")
    }

    @Test(
        "is not a decimal of 15 digits, or a whole one of 64 bits, wherever its point is",
        arguments: [
            "0.123456789012345", "-123456789012345", "9223372036854775807", "-9223372036854775808", "1e100", "-7.5e-60",
            "123456789.012345", "100000000000000000000", "0.000000000000000000123456789012345",
        ])
    func keptDecimals(_ text: String) async throws {
        let gauge = Gauge(id: 1, amount: try #require(Decimal(string: text)))
        try await counter.manager.save(gauge)
        #expect(try await counter.manager.fetch(Gauge.self) == [gauge])
    }

    @Test("may be an infinite number")
    func infinity() async throws {
        let gauge = Gauge(id: 1, level: .infinity, ratio: -.infinity)
        try await counter.manager.save(gauge)
        #expect(try await counter.manager.fetch(Gauge.self) == [gauge])
    }

    @Test("is an error of what a filter is used for, as a format is that cannot be read")
    func filters() async {
        await #expect(
            throws: PersistenceError.notKept(
                property: "\\Gauge.level", entity: "Gauge",
                reason: "It is not a number (NaN), which no store can keep. Use an optional.")
        ) {
            try await counter.manager.fetch(Gauge.self, where: \.level == .nan)
        }
        await #expect {
            try await counter.manager.fetch(Gauge.self, where: .format("level = = 1"))
        } throws: { $0.localizedDescription.contains("character 9") }
    }
}

@Suite("A file that cannot be read")
struct UnreadableFileTests {
    /// Refuses some values with an error of its own.
    private struct Percentage: CoreModel {
        struct TooMuch: LocalizedError { var errorDescription: String? { "More than a hundred." } }
        let id: String
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            value = try container.decode(Int.self, forKey: .value)
            if value > 100 { throw TooMuch() }
        }
    }

    private let counter: Counter

    init() throws { counter = try Counter(Percentage.self) }

    @Test("is named, and so is a folder in its place")
    func missing() async {
        let manager = counter.manager
        await #expect(throws: PersistenceError.fileNotReadable(path: "/nowhere.csv", reason: "There is no such file."))
        {
            try await manager.importCSV(Percentage.self, from: URL(fileURLWithPath: "/nowhere.csv"))
        }
        await #expect(throws: PersistenceError.fileNotReadable(path: "/tmp", reason: "It is a folder.")) {
            try await manager.importJSONLines(Percentage.self, from: URL(fileURLWithPath: "/tmp"))
        }
    }

    @Test("does not keep the other lines out, whatever error its model throws", arguments: ["csv", "jsonl"])
    func ownError(_ kind: String) async throws {
        let lines = [
            "csv": "id,value\na,1\nb,101\nc,3\n",
            "jsonl": #"{"id":"a","value":1}\#n{"id":"b","value":101}\#n{"id":"c","value":3}"#,
        ]
        let file = counter.folder.file("import.\(kind)")
        try Data((lines[kind] ?? "").utf8).write(to: file)
        let report =
            kind == "csv"
            ? try await counter.manager.importCSV(Percentage.self, from: file)
            : try await counter.manager.importJSONLines(Percentage.self, from: file)
        #expect(report.inserted == 2)
        #expect(report.refused.map(\.reason) == ["More than a hundred."])
    }

    @Test("is told from a folder when it is to be a store")
    func store() {
        let manager = PersistenceManager(models: Percentage.self, store: .file(counter.folder.url))
        #expect {
            try manager.loadAndWait()
        } throws: { $0.localizedDescription.contains("it is a folder") }
    }
}
