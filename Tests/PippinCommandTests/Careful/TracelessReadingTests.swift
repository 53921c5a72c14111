import CoreData
import Foundation
import SQLiteConnection
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

/// What there is of the files in a folder, and of the folder: everything that a program could change.
private struct FolderFacts: Equatable, CustomStringConvertible {
    private var facts: [String: String] = [:]

    init(of folder: URL) throws {
        for name in try ["."] + names(in: folder) {
            let path = folder.appendingPathComponent(name).path
            var state = stat()
            try #require(stat(path, &state) == 0)
            let bytes = name == "." ? 0 : try Data(contentsOf: URL(fileURLWithPath: path)).hashValue
            facts[name] =
                "inode \(state.st_ino), \(state.st_size) bytes, \(bytes), mode \(state.st_mode), "
                + "written \(state.st_mtim.tv_sec).\(state.st_mtim.tv_nsec)"
        }
    }

    var description: String { facts.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "\n") }
}

@Suite("Reading leaves no trace: the bytes, times and inodes of a store's files and of their folder stay")
struct TracelessReadingTests {
    /// What is beside a store.
    enum Files: String, CaseIterable {
        case alone, withLog, withStaleIndex, withEmptyIndex, withHotJournal, withLeftJournal
    }

    /// For each command of the manual that reads a store, lines of the shell that run it: `S` is the store, `F` a
    /// folder for what it writes.
    private static let reading: [String: [String]] = [
        "info": ["$PIPPIN info S"],
        "dump": ["$PIPPIN dump S", "$PIPPIN dump S --json", "$PIPPIN dump S --at-commit 0"],
        "query": ["$PIPPIN query S Book", "$PIPPIN query S 'Book order by title' --in-place --format jsonl"],
        "search": ["$PIPPIN search S Emma", "$PIPPIN search S Emma --in-place --format jsonl"],
        "sql": ["$PIPPIN sql S 'SELECT title FROM Book'", "$PIPPIN sql S 'SELECT title FROM Book' --in-place"],
        "views": ["$PIPPIN views S"],
        "export": ["$PIPPIN export S Book", "$PIPPIN export S Author --in-place --output F/authors.csv"],
        "check": ["$PIPPIN check S", "$PIPPIN check S --repair F/mended.sqlite"],
        "recover": ["$PIPPIN recover S -o F/found", "$PIPPIN recover S -o F/other --only-gone --at-commit 0"],
        "history": ["$PIPPIN history S || true"],
        "timeline": ["$PIPPIN timeline S", "$PIPPIN timeline S -o F/timeline.csv"],
        "scan": ["$PIPPIN scan S"],
        "report": ["$PIPPIN report S --output F/report.html"],
        "browse": [
            """
            $PIPPIN browse S --no-open > F/said & for try in $(seq 200); do grep -q 127.0.0.1 F/said && break; \
            kill -0 $! || break; sleep 0.05; done; kill -9 $!
            """
        ],
        "shell": ["printf '.entities\\nBook limit 2\\n' | $PIPPIN shell S"],
        "migrate": ["$PIPPIN migrate S --to F/Small.xcdatamodeld --dry-run"],
        "copy": ["$PIPPIN copy S F/copy.sqlite"],
        "model": ["$PIPPIN model describe S"],
        "model describe": ["$PIPPIN model describe S"],
        "model validate": ["$PIPPIN model validate S"],
        "model diff": ["$PIPPIN model diff S F/Small.xcdatamodeld"],
        "model graph": ["$PIPPIN model graph S"],
        "model generate": ["$PIPPIN model generate S --all --output F/Records.swift"],
        "model swiftdata": ["$PIPPIN model swiftdata S --output F/Models.swift"],
        "model compile": ["$PIPPIN model compile S --output F/Small.momd"],
        "model extract": ["$PIPPIN model extract S --output F/Other.xcdatamodeld"],
    ]
    /// The commands that change a store, and those that are not given any.
    private static let others: Set<String> = ["import", "completions", "manual", "sync", "sync-server"]

    @Test("No command of the manual is left out here")
    func table() {
        #expect(Set(CommandManual.all.map(\.name)) == Set(Self.reading.keys).union(Self.others))
    }

    /// Makes a store whose files are in a state, and a folder for what is written.
    private func make(_ files: Files, in folder: URL) throws -> (store: URL, output: URL) {
        let (closed, output) = (folder.appendingPathComponent("closed"), folder.appendingPathComponent("output"))
        for made in [closed, output] {
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: false)
        }
        let made = try SmallStore()
        let model = output.appendingPathComponent("Small.xcdatamodeld").path
        #expect(CommandRun("model", "extract", made.path, "--output", model).status == 0)
        let store = closed.appendingPathComponent("store.sqlite")
        let connection = try Connection(path: made.path, mode: .readWrite)
        let suffixes: [String]
        switch files {
        case .alone: suffixes = [""]
        case .withLog: suffixes = ["", "-wal"]
        case .withStaleIndex, .withEmptyIndex: suffixes = ["", "-wal", "-shm"]
        case .withHotJournal, .withLeftJournal: suffixes = ["", "-journal"]
        }
        if files == .withHotJournal {
            try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 10; BEGIN IMMEDIATE")
            try connection.execute(
                """
                WITH RECURSIVE numbers(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT n, 2, 1, printf('%.*c', 500, 'x') FROM numbers
                """)
        } else if files == .withLeftJournal {
            try connection.execute("PRAGMA journal_mode = PERSIST; UPDATE ZBOOK SET ZPAGES = 475 WHERE ZTITLE = 'Emma'")
        } else if files != .alone {
            try connection.execute("UPDATE ZBOOK SET ZPAGES = 475 WHERE ZTITLE = 'Emma'")
        }
        for suffix in suffixes {
            try FileManager.default.copyItem(atPath: made.path + suffix, toPath: store.path + suffix)
        }
        if files == .withEmptyIndex { try Data(count: 32_768).write(to: URL(fileURLWithPath: store.path + "-shm")) }
        return withExtendedLifetime(connection) { (store, output) }
    }

    private func run(
        _ line: String, _ store: URL, _ output: URL, as user: String = ""
    ) throws -> (status: Int32, output: String, errors: String) {
        let line = line.replacingOccurrences(of: "$PIPPIN", with: "\(user)\"$PIPPIN\"")
            .replacingOccurrences(of: " S", with: " '\(store.path)'")
            .replacingOccurrences(of: " F/", with: " \(output.path)/")
        return try shell(line, temporary: output)
    }

    @Test("Every command leaves every state of the files as it is", arguments: Files.allCases)
    func everyCommand(_ files: Files) throws {
        let folder = try TestFolder()
        let (store, output) = try make(files, in: folder.url)
        let before = try FolderFacts(of: store.deletingLastPathComponent())
        for (name, lines) in Self.reading.sorted(by: { $0.key < $1.key }) {
            for line in lines {
                let run = try run(line, store, output)
                #expect(try FolderFacts(of: store.deletingLastPathComponent()) == before, "\(line): \(run.errors)")
                // In place, a journal could only be followed by changing the store.
                let isRefused = files == .withHotJournal && (line.contains("--in-place") || name == "shell")
                guard name != "browse", !name.hasPrefix("model") else { continue }
                #expect(run.status == (isRefused ? 1 : 0), "\(line): \(run.status) \(run.errors)")
            }
        }
    }

    @Test("A folder that only another user may write to is read in place, with the changes in the log")
    func otherUser() throws {
        let folder = try TestFolder()
        let (store, output) = try make(.withLog, in: folder.url)
        let closed = store.deletingLastPathComponent()
        func set(_ mode: Int, _ url: URL) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        }
        try set(0o777, folder.url)
        try set(0o777, output)
        try set(0o555, closed)
        for name in try names(in: closed) { try set(0o444, closed.appendingPathComponent(name)) }
        defer { try? set(0o755, closed) }
        let user = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : ""
        let before = try FolderFacts(of: closed)
        for line in [
            "$PIPPIN query S 'Book where pages == 475' --format jsonl --in-place",
            "$PIPPIN export S Book --in-place --format jsonl", "printf 'Book where pages == 475\\n' | $PIPPIN shell S",
            "$PIPPIN dump S --json",
        ] {
            let run = try run(line, store, output, as: user)
            #expect(run.status == 0 && run.output.contains("475"), "\(line): \(run.errors)")
            #expect(try FolderFacts(of: closed) == before, "\(line)")
        }
    }

    @Test(
        "Every command that is killed on the way leaves nothing either", arguments: [Files.alone, .withLog],
        [0.02, 0.15])
    func everyCommandKilled(_ files: Files, seconds: Double) throws {
        let folder = try TestFolder()
        let (store, output) = try make(files, in: folder.url)
        let before = try FolderFacts(of: store.deletingLastPathComponent())
        for lines in Self.reading.values {
            for line in lines {
                // With all that it has started.
                _ = try run(
                    "ulimit -c 0; timeout -s KILL \(seconds) bash <<'END'\n\(line)\nEND\ntrue", store, output)
                #expect(try FolderFacts(of: store.deletingLastPathComponent()) == before, "\(line)")
            }
        }
    }

    @Test("A store on a file system that is mounted for reading only is read, by every command")
    func readOnlyMount() throws {
        for files in [Files.alone, .withLog, .withStaleIndex] {
            let folder = try TestFolder()
            let (store, output) = try make(files, in: folder.url)
            let closed = store.deletingLastPathComponent()
            let mount = "mount --bind '\(closed.path)' '\(closed.path)' && mount -o remount,bind,ro '\(closed.path)'"
            // Containers may not mount.
            guard try shell("unshare -m bash <<'END'\n\(mount)\nEND", temporary: output).status == 0 else { return }
            let before = try FolderFacts(of: closed)
            for (name, lines) in Self.reading where !["browse", "shell"].contains(name) && !name.hasPrefix("model") {
                for line in lines where !line.contains("|") {
                    let run = try run("unshare -m bash <<'END'\n\(mount) && \(line)\nEND", store, output)
                    // What was written for one state of the files is there for the next one.
                    #expect(run.status == 0 || run.errors.contains("is there already"), "\(line): \(run.errors)")
                    #expect(try FolderFacts(of: closed) == before, "\(line)")
                }
            }
        }
    }

    @Test("A query that is killed while it writes leaves nothing either", arguments: [Files.alone, .withLog])
    func killed(_ files: Files) throws {
        let folder = try TestFolder()
        let (store, output) = try make(files, in: folder.url)
        let before = try FolderFacts(of: store.deletingLastPathComponent())
        for options in ["", "--in-place"] {
            // The pipe is full, and nobody reads it, when the program is killed.
            let line = """
                mkfifo F/pipe; exec 3<> F/pipe; ulimit -c 0; $PIPPIN query S 'Book' --format jsonl \(options) >&3 & sleep 0.3; \
                kill -9 $!; wait $!; rm F/pipe; true
                """
            _ = try run(line, store, output)
            #expect(try FolderFacts(of: store.deletingLastPathComponent()) == before)
        }
    }

    @Test("The changes in a log without an index are read in place")
    func contents() throws {
        let folder = try TestFolder()
        let (store, output) = try make(.withLog, in: folder.url)
        let run = try run("$PIPPIN query S 'Book where pages == 475' --format jsonl --in-place", store, output)
        #expect(run.output.contains("Emma"), "\(run.errors)")
    }

    @Test("What another program saves, and has open, is read in place without a word to its index")
    func openElsewhere() throws {
        let folder = try TestFolder()
        let (store, output) = try make(.alone, in: folder.url)
        let writer = try Connection(path: store.path, mode: .readWrite)
        try writer.execute("UPDATE ZBOOK SET ZPAGES = 476 WHERE ZTITLE = 'Emma'")
        let before = try FolderFacts(of: store.deletingLastPathComponent())
        let run = try run("$PIPPIN query S 'Book where pages == 476' --format jsonl --in-place", store, output)
        #expect(run.output.contains("Emma"), "\(run.errors)")
        try #expect(FolderFacts(of: store.deletingLastPathComponent()) == before)
        try writer.execute("UPDATE ZBOOK SET ZPAGES = 477 WHERE ZTITLE = 'Emma'")
    }
}
