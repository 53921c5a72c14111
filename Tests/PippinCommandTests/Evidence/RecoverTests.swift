import CoreData
import Foundation
import SQLiteConnection
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin recover")
struct RecoverTests {
    /// A store whose log has a book that was changed and deleted, and another that was deleted before the log began.
    private func makeStore(_ folder: URL) throws -> URL {
        let made = try SmallStore()
        let store = folder.appendingPathComponent("store.sqlite")
        let connection = try Connection(path: made.path, mode: .readWrite)
        try connection.execute(
            """
            PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 0;
            DELETE FROM ZBOOK WHERE ZTITLE = 'Persuasion'; PRAGMA wal_checkpoint(TRUNCATE);
            UPDATE ZBOOK SET ZPAGES = 475, Z_OPT = 2 WHERE ZTITLE = 'Emma';
            DELETE FROM ZBOOK WHERE ZTITLE = 'Emma';
            """)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: made.path + suffix, toPath: store.path + suffix)
        }
        return withExtendedLifetime(connection) { store }
    }

    private func lines(_ folder: URL) throws -> [[String: Any]] {
        try String(contentsOf: folder.appendingPathComponent("objects.jsonl"), encoding: .utf8).split(separator: "\n")
            .map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }

    @Test("writes what there is, and what is gone, each with its origin and by the names of the model")
    func objects() throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            let output = folder.appendingPathComponent("found")
            let run = CommandRun("recover", store.path, "-o", output.path)
            #expect(run.status == 0, "\(run.errors)")
            let books = try lines(output).filter { $0["entity"] as? String == "Book" }
            let shown = books.map { book in
                let properties = book["properties"] as? [String: Any]
                let pages = (properties?["pages"] as? NSNumber)?.stringValue ?? ""
                return "\(book["origin"] ?? ""): \(properties?["title"] ?? ""), \(pages)"
            }
            #expect(
                shown == [
                    "live: Emma, \"again\", 12", "file: Emma, 474", "frame 1: Emma, 475",
                    "free block of page 3: Persuasion, 249",
                ] || Set(shown).isSuperset(of: ["live: Emma, \"again\", 12", "file: Emma, 474", "frame 1: Emma, 475"]))
            #expect(shown.contains { $0.hasSuffix("Persuasion, 249") && !$0.hasPrefix("live") })
            let first = try #require(books.first { $0["origin"] as? String == "frame 1" })
            #expect(first["commit"] as? Int == 1)
            #expect(first["version"] as? Int == 2)
            #expect(
                first["objectID"] as? String == books.first { $0["origin"] as? String == "file" }?["objectID"]
                    as? String)
            let author = try #require((first["properties"] as? [String: Any])?["author"] as? String)
            #expect(author.hasSuffix("/Author/p1"))
        }
    }

    @Test("makes a store of what was found that plain SQL reads, without the objects that are there")
    func foundStore() throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            let output = folder.appendingPathComponent("found")
            let run = CommandRun("recover", store.path, "-o", output.path, "--only-gone")
            #expect(run.status == 0, "\(run.errors)")
            let rows = try plainSQL(
                "SELECT title, pages, author FROM Book ORDER BY pages",
                in: output.appendingPathComponent("found.sqlite"))
            #expect(rows == ["Persuasion|249|", "Emma|474|1", "Emma|475|1"])
            #expect(try lines(output).allSatisfy { $0["origin"] as? String != "live" })
        }
    }

    @Test("names the numbers that were handed out and have no object")
    func gaps() throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            let output = folder.appendingPathComponent("found")
            let run = CommandRun("recover", store.path, "-o", output.path)
            #expect(run.output.contains("Book: 3 numbers handed out, 2 without an object: 1–2"))
            let summary = try Data(contentsOf: output.appendingPathComponent("summary.json"))
            let document = try JSONSerialization.jsonObject(with: summary) as? [String: Any]
            let first = (document?["numbersWithoutObjects"] as? [[String: Any]])?.first
            #expect(first?["absent"] as? Int == 2)
        }
    }

    @Test("shows the store as of each commit of its log, in dump and info, too", arguments: [0, 1, 2])
    func commits(number: Int) throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            let objects = try CommandRun("dump", store.path, "--json", "--at-commit", "\(number)").objects()
            let pages = (objects["Book"] ?? []).map { ($0["pages"] as? NSNumber)?.intValue }
            #expect(pages == [[474, 12], [475, 12], [12]][number])
            #expect(
                CommandRun("info", store.path, "--at-commit", "\(number)").output.contains("\(pages.count + 1) objects")
            )
        }
    }

    @Test("names the commits that there are, for another number")
    func unknownCommit() throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            for command in ["dump", "info"] {
                let run = CommandRun(command, store.path, "--at-commit", "3")
                #expect(run.status == 1)
                #expect(run.errors.contains("has 2 commits; --at-commit takes 0"))
            }
            #expect(CommandRun("dump", store.path, "--at-commit", "x").status == 64)
        }
    }

    @Test("writes only into a folder that is new or empty")
    func folder() throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            let run = CommandRun("recover", store.path, "-o", folder.path)
            #expect(run.status == 1)
            #expect(run.errors.contains("is there already"))
        }
    }

    @Test("shows rows under the names of their columns if a store has no model")
    func withoutModel() throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            try execute("DROP TABLE Z_MODELCACHE", in: store)
            let output = folder.appendingPathComponent("found")
            let run = CommandRun("recover", store.path, "-o", output.path)
            #expect(run.status == 0, "\(run.errors)")
            let titles = try lines(output).compactMap { ($0["properties"] as? [String: Any])?["title"] as? String }
            #expect(titles.contains("Emma"))
        }
    }

    @Test("ends without a crash on damaged files", .ownThread)
    func mutants() throws {
        try inTestFolder { folder in
            let store = try makeStore(folder)
            let (file, log) = (
                try Data(contentsOf: store), try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal"))
            )
            var random = SplitMix(state: 11)
            let count = Int(ProcessInfo.processInfo.environment["PIPPIN_MUTANTS"] ?? "") ?? 60
            for number in 0..<count {
                var (bytes, frames) = (file, log)
                for _ in 0..<Int.random(in: 1...30, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                    frames[Int.random(in: 0..<frames.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                let mutant = folder.appendingPathComponent("mutant.sqlite")
                try bytes.write(to: mutant)
                try frames.write(to: URL(fileURLWithPath: mutant.path + "-wal"))
                let output = folder.appendingPathComponent("found \(number)")
                #expect([0, 1].contains(CommandRun("recover", mutant.path, "-o", output.path).status))
                #expect([0, 1].contains(CommandRun("timeline", mutant.path).status))
                try FileManager.default.removeItem(at: output)
            }
        }
    }
}
