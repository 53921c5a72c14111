import Pippin
import Testing

/// Which counts how often it is read.
private struct Counted: CoreModel {
    static let readings = Locked(0)
    let id: Int
    enum CodingKeys: String, CodingKey { case id }

    init(from decoder: any Decoder) throws {
        Self.readings.withLock { $0 += 1 }
        id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    }
}

@Suite("Imports of files in which every line is bad")
struct RefusingImportTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Coin.self) }

    private func file(_ text: String) throws -> URL {
        let url = counter.folder.file("import.txt")
        try Data(text.utf8).write(to: url)
        return url
    }

    @Test("end when they are cancelled", arguments: [false, true])
    func cancelled(asCSV: Bool) async throws {
        let url = try file("id\n" + String(repeating: asCSV ? "one\n" : "{\"id\": \"one\"}\n", count: 2_000))
        let counter = try Counter(Counted.self)
        let progress = Progress(totalUnitCount: -1)
        progress.cancel()
        let before = Counted.readings.withLock { $0 }
        await #expect(throws: CancellationError.self) {
            if asCSV {
                try await counter.manager.importCSV(Counted.self, from: url, batchSize: 10, progress: progress)
            } else {
                try await counter.manager.importJSONLines(
                    Counted.self, from: url, batchSize: 10, progress: progress)
            }
        }
        #expect(Counted.readings.withLock { $0 } - before < 500)
    }

    @Test("quote no more than the beginning of a long text")
    func long() async throws {
        let text = String(repeating: "x", count: 100_000)
        let csv = try await manager.importCSV(Coin.self, from: file("iso_code,value_in_euro\nEUR,\(text)"))
        #expect(csv.refused.count == 1 && csv.refused[0].reason.count < 600)
        #expect(csv.refused[0].reason.contains("value_in_euro"))
        let url = try file("")
        try Data(repeating: 0xFF, count: 100_000).write(to: url)
        let lines = try await manager.importJSONLines(Coin.self, from: url)
        #expect(lines.refused.count == 1 && lines.refused[0].reason.count < 600)
    }
}
