import CSQLiteBaseline
import Foundation
import Pippin

/// How many texts are searched, whatever the size of the store, and how many words each has.
private let texts = 100_000
private let words = 35
/// How many texts are saved with their words.
private let savedTexts = 20_000

/// A text with its words, by frequencies as in a language: of the 20,000 words, the first are in most texts.
private struct Essay: CoreModel {
    let id: Int
    var title: String
    var text: String

    static var schema: Schema<Essay> { Schema(.searchable(\.text)) }

    static func make(_ count: Int) -> [Essay] {
        var state: UInt64 = 59
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) / Double(1 << 53)
        }
        return (0..<count).map { id in
            let text = (0..<words).map { _ in word(Int(pow(20_000, random()))) }.joined(separator: " ")
            return Essay(id: id, title: "Essay \(id)", text: text)
        }
    }

    /// A word of some syllables for a number.
    static func word(_ number: Int) -> String {
        let syllables = [
            "ba", "co", "di", "fu", "ga", "he", "ki", "lo", "ma", "nu", "pe", "ri", "so", "ta", "ve", "zu",
        ]
        var (rest, text) = (number + 16, "")
        while rest > 0 {
            text += syllables[rest % 16]
            rest /= 16
        }
        return text
    }

    static func manager(_ store: URL) -> PersistenceManager {
        PersistenceManager(models: Essay.self, store: .file(store))
    }
}

extension Workspace {
    /// A store with texts and an index, to be read only.
    fileprivate func essays() throws -> URL {
        let store = folder.appendingPathComponent("essays.sqlite")
        guard !FileManager.default.fileExists(atPath: store.path) else { return store }
        let manager = Essay.manager(store)
        try waiting {
            try await manager.insert(Essay.make(texts))
            _ = try await manager.fetch(Essay.self, searching: "x")
            await manager.close()
        }
        try Baseline(path: store).checkpoint()
        return store
    }

    fileprivate func emptyEssays() throws -> URL {
        let store = folder.appendingPathComponent("essays-\(UUID().uuidString).sqlite")
        try Essay.manager(store).readAndWait { _ in }
        return store
    }
}

/// Searches with limit 20, and saves of searched texts, against FTS5 by hand.
let searchWorks = [
    searchWork("400 searches of a word", (0..<400).map { Essay.word(40 + $0 * 7) }),
    searchWork("400 searches of a beginning", (0..<400).map { String(Essay.word(40 + $0 * 7).prefix(5)) + "*" }),
    searchWork(
        "400 searches of two words", (0..<400).map { "\(Essay.word(20 + $0)) \(Essay.word(30 + $0 * 3))" }),
    searchWork(
        "400 searches of a phrase", (0..<400).map { "\"\(Essay.word(1 + $0 % 20)) \(Essay.word(2 + $0 / 20))\"" }),
    Work(
        title: "20,000 new texts with their index", budget: 1.3, operations: { _ in savedTexts },
        ours: { workspace, _ in
            let store = try workspace.emptyEssays()
            let manager = Essay.manager(store)
            try manager.readAndWait { _ in }
            let essays = Essay.make(savedTexts)
            return Trial(store: store, changesStore: false) {
                try manager.writeAndWait { try $0.save(essays) }
                return Checksum()
            }
        },
        baseline: { workspace, _ in
            let store = try workspace.emptyEssays()
            let database = try Baseline(path: store)
            let essays = Essay.make(savedTexts)
            try database.execute("CREATE VIRTUAL TABLE byhand USING fts5(text, content = '')")
            return Trial(store: store, changesStore: false) {
                try database.insert(essays)
                return Checksum()
            }
        }),
    rowsWork("rows of SQL, @CoreModel", budget: 1.1, Book.self),
    rowsWork("rows of SQL, Codable", budget: 1.4, CodedBook.self),
]

private func searchWork(_ title: String, _ queries: [String]) -> Work {
    Work(
        title: title, budget: 1.3, operations: { _ in queries.count },
        ours: { workspace, _ in
            let store = try workspace.essays()
            let manager = Essay.manager(store)
            _ = try waiting { try await manager.fetch(Essay.self, searching: "x") }
            return Trial(store: store, changesStore: false) {
                let found = try waiting {
                    var found = 0
                    for query in queries {
                        found += try await manager.fetch(Essay.self, searching: query, limit: 20).count
                    }
                    return found
                }
                return Checksum(found)
            }
        },
        baseline: { workspace, _ in
            let store = try workspace.essays()
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) { try database.search(queries) }
        })
}

private func rowsWork<Model: BookModel>(_ title: String, budget: Double, _ type: Model.Type) -> Work {
    Work(
        title: title, budget: budget, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let manager = try Model.manager(store: store)
            return Trial(store: store, changesStore: false) {
                var checksum = Checksum()
                let rows = try manager.readAndWait { store in
                    try store.rows(
                        Model.self,
                        """
                        SELECT ZUID AS uid, ZTITLE AS title, ZCOUNT AS count, ZPRICE AS price, ZCREATEDAT AS createdAt, \
                        ZISFLAGGED AS isFlagged FROM \(Model.self)
                        """)
                }
                for row in rows { row.add(to: &checksum) }
                return checksum
            }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) { try database.fetchAll() }
        })
}

extension Checksum {
    fileprivate init(_ count: Int) {
        self.init()
        add(uidBytes: count, titleBytes: 0, count: 0, price: 0, createdAt: 0, isFlagged: false)
    }
}

extension Baseline {
    /// The same statement, and the texts of the rows in the order in which they were found.
    fileprivate func search(_ queries: [String]) throws -> Checksum {
        let search = try prepare(
            """
            SELECT r.PK, s.rank FROM PIPPIN_SEARCH_ESSAY s CROSS JOIN PIPPIN_SEARCHED_ESSAY r ON r.DOC = s.rowid
            WHERE s.PIPPIN_SEARCH_ESSAY MATCH ?1 ORDER BY s.rank LIMIT 20
            """)
        let row = try prepare("SELECT ZID, ZTITLE, ZTEXT FROM ZESSAY WHERE Z_PK = ?1")
        defer { for statement in [search, row] { sqlite3_finalize(statement) } }
        var found = 0
        for query in queries {
            let isPrefix = query.hasSuffix("*")
            let expression =
                isPrefix
                ? "\"\(query.dropLast())\" *"
                : query.hasPrefix("\"")
                    ? query : query.split(separator: " ").map { "\"\($0)\"" }.joined(separator: " AND ")
            bind(expression, to: search, at: 1)
            while try step(search) {
                sqlite3_bind_int64(row, 1, sqlite3_column_int64(search, 0))
                if try step(row) {
                    let (title, text) = (copiedText(row, 1), copiedText(row, 2))
                    Glibc.free(title.0)
                    Glibc.free(text.0)
                    found += 1
                }
                sqlite3_reset(row)
            }
            sqlite3_reset(search)
        }
        return Checksum(found)
    }

    /// Rows as the store has them, and their words in an FTS5 table without the texts.
    fileprivate func insert(_ essays: [Essay]) throws {
        let row = try prepare("INSERT INTO ZESSAY (Z_PK, Z_ENT, Z_OPT, ZID, ZTITLE, ZTEXT) VALUES (?, 1, 1, ?, ?, ?)")
        let index = try prepare("INSERT INTO byhand (rowid, text) VALUES (?, ?)")
        defer { for statement in [row, index] { sqlite3_finalize(statement) } }
        try execute("BEGIN IMMEDIATE")
        for (place, essay) in essays.enumerated() {
            sqlite3_bind_int64(row, 1, Int64(place + 1))
            sqlite3_bind_int64(row, 2, Int64(essay.id))
            bind(essay.title, to: row, at: 3)
            bind(essay.text, to: row, at: 4)
            try finish(row)
            sqlite3_bind_int64(index, 1, Int64(place + 1))
            bind(essay.text, to: index, at: 2)
            try finish(index)
        }
        try execute("COMMIT")
    }
}
