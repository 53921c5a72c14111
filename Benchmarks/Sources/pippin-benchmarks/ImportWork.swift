import CSQLiteBaseline
import Foundation
import Pippin

/// An import inserts or updates by identifier, in batches of 500 models; so does the baseline.
func importWork<Model: PoetModel>(_ title: String, _ type: Model.Type) -> Work {
    Work(
        title: title, budget: 1.5, operations: { $0 },
        ours: { workspace, values in
            let poets = Model.make(values: values)
            let store = try workspace.emptyPoetStore()
            let manager = try Model.manager(store: store)
            return Trial(store: store, changesStore: false, finish: { try ImportBaseline(store).expect(poets.count) }) {
                let report = try waiting { try await manager.importModels(Sequenced(poets)) }
                guard report.inserted == poets.count, report.refused.isEmpty else { throw IncompleteImport() }
                return Checksum()
            }
        },
        baseline: { workspace, values in
            let poets = Poet.make(values: values)
            let store = try workspace.emptyPoetStore()
            let database = try ImportBaseline(store)
            return Trial(store: store, changesStore: false, finish: { try database.expect(poets.count) }) {
                var start = 0
                while start < poets.count {
                    let end = min(start + 500, poets.count)
                    try database.importBatch(poets[start..<end])
                    start = end
                }
                return Checksum()
            }
        })
}

struct IncompleteImport: Error {}

/// An array as an asynchronous sequence.
private struct Sequenced<Element: Sendable>: AsyncSequence, Sendable {
    private let elements: [Element]
    init(_ elements: [Element]) { self.elements = elements }

    struct Iterator: AsyncIteratorProtocol {
        var elements: IndexingIterator<[Element]>
        mutating func next() async -> Element? { elements.next() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(elements: elements.makeIterator()) }
}

/// Waits for what is asynchronous.
func waiting<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) throws -> Result {
    let done = DispatchSemaphore(value: 0)
    let box = Box<Swift.Result<Result, any Error>?>(nil)
    Task.detached {
        do { box.value = .success(try await work()) } catch { box.value = .failure(error) }
        done.signal()
    }
    done.wait()
    guard let result = box.value else { throw IncompleteImport() }
    return try result.get()
}

private final class Box<Value>: @unchecked Sendable {
    // @unchecked Sendable: written before the semaphore is signalled, read after it was waited for.
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// The import by hand: per value a look for its identifier, and an insertion where there is none.
private final class ImportBaseline {
    private let database: Baseline
    private var lastPoet: Int64 = 0
    private var lastPoem: Int64 = 0

    init(_ store: URL) throws { database = try Baseline(path: store) }

    func importBatch(_ poets: ArraySlice<Poet>) throws {
        let findPoet = try database.prepare("SELECT Z_PK FROM ZPOET WHERE ZUID = ?")
        let findPoem = try database.prepare("SELECT Z_PK FROM ZPOEM WHERE ZUID = ?")
        let insertPoet = try database.prepare(
            "INSERT INTO ZPOET (Z_PK, Z_ENT, Z_OPT, ZUID, ZNAME, ZBORN) VALUES (?, ?, 1, ?, ?, ?)")
        let insertPoem = try database.prepare(
            """
            INSERT INTO ZPOEM (Z_PK, Z_ENT, Z_OPT, ZUID, ZTITLE, ZLINES, ZWRITTENAT, ZPOEMSOFPOET, Z_FOK_POEMSOFPOET)
            VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)
            """)
        defer { for statement in [findPoet, findPoem, insertPoet, insertPoem] { sqlite3_finalize(statement) } }
        try database.execute("BEGIN IMMEDIATE")
        for poet in poets {
            guard try !isThere(poet.uid, findPoet) else { continue }
            lastPoet += 1
            sqlite3_bind_int64(insertPoet, 1, lastPoet)
            sqlite3_bind_int64(insertPoet, 2, 2)
            database.bind(poet.uid, to: insertPoet, at: 3)
            database.bind(poet.name, to: insertPoet, at: 4)
            sqlite3_bind_int64(insertPoet, 5, poet.born)
            try database.finish(insertPoet)
            for (order, poem) in poet.poems.enumerated() {
                guard try !isThere(poem.uid, findPoem) else { continue }
                lastPoem += 1
                sqlite3_bind_int64(insertPoem, 1, lastPoem)
                sqlite3_bind_int64(insertPoem, 2, 1)
                database.bind(poem.uid, to: insertPoem, at: 3)
                database.bind(poem.title, to: insertPoem, at: 4)
                sqlite3_bind_int64(insertPoem, 5, poem.lines)
                sqlite3_bind_double(insertPoem, 6, poem.writtenAt.timeIntervalSinceReferenceDate)
                sqlite3_bind_int64(insertPoem, 7, lastPoet)
                sqlite3_bind_int64(insertPoem, 8, Int64(order + 1) * 1024)
                try database.finish(insertPoem)
            }
        }
        try database.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(lastPoet) WHERE Z_NAME = 'Poet'")
        try database.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(lastPoem) WHERE Z_NAME = 'Poem'")
        try database.execute("COMMIT")
    }

    private func isThere(_ uid: String, _ statement: OpaquePointer) throws -> Bool {
        database.bind(uid, to: statement, at: 1)
        defer { sqlite3_reset(statement) }
        return try database.step(statement)
    }

    /// Makes sure that all values are there, each child with its parent and its place.
    func expect(_ poets: Int) throws {
        let statement = try database.prepare(
            """
            SELECT (SELECT COUNT(*) FROM ZPOET), COUNT(*), COUNT(DISTINCT ZPOEMSOFPOET), COUNT(Z_FOK_POEMSOFPOET)
            FROM ZPOEM
            """)
        defer { sqlite3_finalize(statement) }
        _ = try database.step(statement)
        let found = (0..<4).map { Int(sqlite3_column_int64(statement, $0)) }
        let poems = poets * Poet.poemsEach
        guard found == [poets, poems, poets, poems] else {
            throw DifferentOutcome(message: "the import left \(found) of \([poets, poems, poets, poems])")
        }
    }
}
