import SQLiteConnection
import Testing

@testable import Pippin
import CoreData

@Suite("Imports")
struct ImportTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Shop.self, Coin.self, Opinion.self) }

    private func stream<Value: Sendable>(_ values: [Value]) -> AsyncStream<Value> {
        AsyncStream { continuation in
            for value in values { continuation.yield(value) }
            continuation.finish()
        }
    }

    private func file(_ text: String) throws -> URL {
        let url = counter.folder.file("import.jsonl")
        try Data(text.utf8).write(to: url)
        return url
    }

    @Test("insert, update, and leave alone what is there just so")
    func sequence() async throws {
        try await manager.save([Coin(code: "EUR", worth: 1), Coin(code: "GBP", worth: 1.2)])
        let progress = Progress(totalUnitCount: 3)
        let report = try await manager.importModels(
            stream([Coin(code: "EUR", worth: 1), Coin(code: "GBP", worth: 1.3), Coin(code: "USD", worth: 0.9)]),
            batchSize: 2, progress: progress)
        #expect(report.inserted == 1)
        #expect(report.updated == 1)
        #expect(report.unchanged == 1)
        #expect(report.refused.isEmpty)
        #expect(progress.completedUnitCount == 3)
        #expect(try await manager.count(Coin.self) == 3)
    }

    @Test("refuse what cannot be saved, and save the rest of its batch")
    func refused() async throws {
        try await manager.save(Volume(id: 1, title: "Emma"))
        let report = try await manager.importModels(
            stream([1, 7, 1].enumerated().map { Opinion(id: "\($0)", volume: Reference(id: $1), stars: 3) }))
        #expect(report.inserted == 2)
        #expect(report.refused.map(\.position) == [2])
        #expect(report.refused[0].reason.contains("'7'"))
    }

    @Test("report what was refused in the order of the source, whenever that was found out")
    func orderOfRefusals() async throws {
        try await manager.save(Volume(id: 1, title: "Emma"))
        let lines = [
            #"{"id":"a","volume":1,"stars":1}"#, #"{"id":"b","volume":7,"stars":1}"#, #"{"id":"c","volume":1}"#,
            #"{"id":"d","volume":1,"stars":1.5}"#, #"{"id":"#,
        ]
        let report = try await manager.importJSONLines(Opinion.self, from: file(lines.joined(separator: "\n")))
        #expect(report.refused.map(\.position) == [2, 3, 4, 5])
        #expect(report.refused[2].reason == "It has a number that its property cannot hold.")
        #expect(report.refused[3].reason == "The given data was not valid JSON.")
    }

    @Test("end when the store fails, which is not the fault of the values; the batches before stay")
    func failingStore() async throws {
        let (file, numbers) = (counter.file, [1, 2, 3, 4].makeIterator())
        let source = Numbers(numbers)
        let coins = AsyncStream<Coin>(unfolding: {
            guard let number = await source.next() else { return nil }
            if number == 4 {
                try? Connection(path: file.path, mode: .readWrite).execute("ALTER TABLE ZCOIN RENAME TO GONE")
            }
            return Coin(code: "\(number)", worth: 1)
        })
        let error = await #expect(throws: (any Error).self) { try await manager.importModels(coins, batchSize: 2) }
        #expect((error as NSError?)?.code == NSPersistentStoreIncompatibleSchemaError)
        #expect(try counter.strings("SELECT ZCODE FROM GONE ORDER BY 1") == ["1", "2"])
    }

    @Test("read JSON lines, and name the invalid lines")
    func jsonLines() async throws {
        let url = try file(
            """
            {"iso_code": "EUR", "value_in_euro": 1}\r
            {"iso_code": "GBP"}

            {"iso_code": "USD", "value_in_euro": "much"}
            {
            {"iso_code": "CHF", "value_in_euro": 1.05}
            """)
        let report = try await manager.importJSONLines(Coin.self, from: url, batchSize: 1)
        #expect(report.inserted == 2)
        #expect(report.refused.map(\.position) == [2, 4, 5])
        #expect(report.refused[0].reason == "There is no value for “value_in_euro”.")
        #expect(try await manager.fetch(Coin.self, sortedBy: .ascending(\.code)).map(\.code) == ["CHF", "EUR"])
    }

    @Test("end between two batches when they are cancelled")
    func cancelled() async throws {
        let progress = Progress(totalUnitCount: 10)
        let manager = manager
        let values = AsyncStream<Coin> { continuation in
            for number in 0..<10 { continuation.yield(Coin(code: "\(number)", worth: 1)) }
            continuation.finish()
        }
        let cancelling = values.map { coin in
            if coin.code == "5" { progress.cancel() }
            return coin
        }
        await #expect(throws: CancellationError.self) {
            try await manager.importModels(cancelling, batchSize: 4, progress: progress)
        }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 4)
    }

    @Test("end with their task, and leave whole batches")
    func cancelledTask() async throws {
        let manager = manager
        let (values, continuation) = AsyncStream.makeStream(of: Coin.self)
        for number in 0..<7 { continuation.yield(Coin(code: "\(number)", worth: 1)) }
        let task = Task { try await manager.importModels(values, batchSize: 3) }
        var counts = manager.observe { try $0.count(Coin.self) }.makeAsyncIterator()
        while let count = try await counts.next(), count < 6 {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 6)
    }

    private struct Leg: CoreModel, Equatable {
        let id: Int
        var next: Reference<Leg>?
    }

    @Test("save what refers to models that come later, beside values at fault, too")
    func laterModels() async throws {
        let legs = try Counter(Leg.self)
        let values = [
            Leg(id: 1, next: Reference(id: 2)), Leg(id: 2, next: Reference(id: 3)), Leg(id: 3, next: Reference(id: 99)),
            Leg(id: 4, next: Reference(id: 5)), Leg(id: 5, next: Reference(id: 6)), Leg(id: 6, next: nil),
            Leg(id: 7, next: Reference(id: 8)), Leg(id: 8, next: Reference(id: 7)),
        ]
        let report = try await legs.manager.importModels(stream(values + [Leg(id: 3, next: Reference(id: 98))]))
        #expect(try await legs.manager.fetch(Leg.self, sortedBy: .ascending(\.id)).map(\.id) == [4, 5, 6])
        #expect(report.inserted == 3)
        #expect(report.refused.map(\.position) == [1, 2, 3, 7, 8, 9])
    }

    @Test("end with what keeps their store from being opened, and blame no value for it")
    func notOpened() async throws {
        let nowhere = counter.folder.file("nowhere").appendingPathComponent("models.sqlite")
        let manager = PersistenceManager(models: Coin.self, store: .file(nowhere))
        await #expect {
            try await manager.importModels(stream([Coin(code: "EUR", worth: 1), Coin(code: "GBP", worth: 1.2)]))
        } throws: { error in (error as? PersistenceError)?.code == .folderNotFound }
    }

    @Test("report a file that is not there")
    func noFile() async {
        await #expect(throws: (any Error).self) {
            try await manager.importJSONLines(Coin.self, from: URL(fileURLWithPath: "/nowhere.jsonl"))
        }
    }
}

private actor Numbers {
    private var rest: IndexingIterator<[Int]>

    init(_ numbers: IndexingIterator<[Int]>) { rest = numbers }

    func next() -> Int? { rest.next() }
}
