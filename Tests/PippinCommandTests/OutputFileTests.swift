import CoreData
import SQLiteConnection
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Files that commands write, and what they leave beside them", .ownThread)
struct OutputFileTests {
    @Test("A file that is written anew keeps its permissions")
    func permissions() throws {
        let store = try SmallStore()
        let file = store.folder.file("books.csv")
        try Data("old".utf8).write(to: file)
        for expected in [0o600, 0o664] {
            #expect(chmod(file.path, mode_t(expected)) == 0)
            #expect(CommandRun("export", store.path, "Book", "--output", file.path).status == 0)
            #expect(try mode(of: file) == expected)
        }
    }

    @Test(
        "A store and its log are not replaced by what a command writes",
        arguments: [
            ["export", "S", "Book", "--output", "S"], ["export", "S", "Book", "--output", "S-wal"],
            ["info", "S", "--evidence", "S"], ["timeline", "S", "-o", "S"], ["report", "S", "-o", "S"],
        ])
    func stores(_ arguments: [String]) throws {
        let store = try SmallStore()
        let log = URL(fileURLWithPath: store.path + "-wal")
        // A connection that is open keeps the log.
        let connection = try Connection(path: store.path, mode: .readWrite)
        try connection.execute("UPDATE ZBOOK SET ZPAGES = 475 WHERE ZTITLE = 'Emma'")
        let before = try [store.folder.store, log].map { try Data(contentsOf: $0) }
        let run = CommandRun(arguments: arguments.map { $0.hasPrefix("S") ? store.path + $0.dropFirst() : $0 })
        #expect(run.status == 1)
        #expect(run.errors.contains("which no output replaces"), "\(run.errors)")
        #expect(try [store.folder.store, log].map { try Data(contentsOf: $0) } == before)
        withExtendedLifetime(connection) {}
    }

    @Test("After kill -9, the next run removes the draft; that of a living run stays")
    func drafts() throws {
        try inTestFolder { folder in
            let store = try SmallStore()
            let insert = """
                WITH RECURSIVE numbers(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300000)
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT n, (SELECT Z_ENT FROM ZBOOK), 1, printf('%.*c', 100, 'x') FROM numbers
                """
            try execute(insert, in: store.folder.store)
            let temporary = store.folder.url
            let export = "$PIPPIN export '\(store.path)' Book --output '\(folder.path)/books.csv'"
            let killed = try shell(
                """
                \(export) & id=$!
                for i in $(seq 400); do sleep 0.02; [ -n "$(ls -A '\(folder.path)')" ] && break; done
                kill -9 $id; wait $id; ls -A '\(folder.path)' | wc -l
                """, temporary: temporary)
            #expect(killed.output == "1\n")
            #expect(try !names(in: folder).contains("books.csv"), "it was killed before its end")
            let small = "$PIPPIN query '\(store.path)' 'Book limit 1'"
            #expect(try shell("\(small) > /dev/null; \(export)", temporary: temporary).status == 0)
            #expect(try names(in: folder) == ["books.csv"])
        }
    }

    @Test(
        "No log stays beside a store that had none",
        arguments: [
            "$PIPPIN-postgres dump STORE > /dev/null", "$PIPPIN copy STORE COPY && rm COPY",
            "(echo Book; sleep 0.5; echo Book; sleep 0.5; echo Book) | $PIPPIN-shell STORE | head -1",
            "(echo Book) | $PIPPIN-shell STORE",
        ])
    func logs(_ command: String) throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let before = try names(in: store.folder.url)
            let line = command.replacingOccurrences(of: "STORE", with: "'\(store.path)'")
                .replacingOccurrences(of: "COPY", with: "'\(folder.path)/copy.sqlite'")
            let run = try shell("set -o pipefail; \(line); exit 0", temporary: folder)
            #expect(run.errors.isEmpty, "\(run.errors)")
            #expect(try names(in: store.folder.url) == before)
        }
    }

    @Test("The shell takes options as the other commands do")
    func shellOptions() throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let wrong = try shell("$PIPPIN-shell --model=/no.momd '\(store.path)' < /dev/null", temporary: folder)
            #expect(wrong.errors.contains("/no.momd") && !wrong.errors.contains("no option"), "\(wrong.errors)")
            let run = try shell(
                "cd '\(store.folder.url.path)' && cp store.sqlite -- -store && echo Book | $PIPPIN-shell -- -store",
                temporary: folder)
            #expect(run.errors.isEmpty)
            #expect(run.output.contains("Persuasion"))
        }
    }

    @Test("A drawing that takes too long is ended, though the program does not take signals itself")
    func drawing() throws {
        try inTestFolder { folder in
            let program = folder.appendingPathComponent("dot")
            try "#!/bin/sh\nexec sleep 20\n".write(to: program, atomically: true, encoding: .utf8)
            #expect(chmod(program.path, 0o755) == 0)
            var (signals, before) = (sigset_t(), sigset_t())
            sigemptyset(&signals)
            sigaddset(&signals, SIGTERM)
            pthread_sigmask(SIG_BLOCK, &signals, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            let start = Date()
            let error = #expect(throws: CommandError.self) {
                _ = try Graphviz(path: folder.path, patience: 0.5).draw("digraph {}", as: .svg)
            }
            #expect(-start.timeIntervalSinceNow < 15)
            #expect(error?.message.contains("seconds") == true)
        }
    }

    @Test("A drawing that crashes is no drawing that takes too long")
    func crash() throws {
        try inTestFolder { folder in
            let program = folder.appendingPathComponent("dot")
            try "#!/bin/sh\necho 'flat edge' >&2\nkill -SEGV $$\n".write(to: program, atomically: true, encoding: .utf8)
            #expect(chmod(program.path, 0o755) == 0)
            let error = #expect(throws: CommandError.self) {
                _ = try Graphviz(path: folder.path).draw("digraph {}", as: .svg)
            }
            #expect(error?.message.hasSuffix("was ended by signal 11: flat edge") == true)
        }
    }

    @Test("A file's name may be as long as the file system takes it", arguments: ["x", "ü", "👩‍👩‍👧"])
    func longName(letter: String) throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let name = String(repeating: letter, count: 250 / letter.utf8.count) + ".csv"
            let file = folder.appendingPathComponent(name)
            for _ in 1...2 {
                let run = CommandRun("export", store.path, "Book", "--output", file.path)
                #expect(run.status == 0, "\(run.errors)")
            }
            let written = try names(in: folder)
            #expect(written == [name])
        }
    }

    @Test("A signal ends the drawing, too, and nothing of it is left")
    func endedDrawing() throws {
        let store = try SmallStore()
        try inTestFolder { folder in
            let temporary = folder.appendingPathComponent("tmp")
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
            let program = folder.appendingPathComponent("dot")
            try "#!/bin/sh\necho $$ > '\(folder.path)/id'\nexec sleep 20\n".write(
                to: program, atomically: true, encoding: .utf8)
            #expect(chmod(program.path, 0o755) == 0)
            let run = try shell(
                """
                PATH="\(folder.path):$PATH" $PIPPIN model graph '\(store.path)' --format svg > /dev/null 2>&1 & id=$!
                for i in $(seq 200); do sleep 0.05; [ -s '\(folder.path)/id' ] && break; done
                kill -TERM $id; wait $id; echo $?
                for i in $(seq 40); do
                    state=$(cut -d' ' -f3 "/proc/$(cat '\(folder.path)/id')/stat" 2> /dev/null)
                    [ "${state:-Z}" = Z ] && exit; sleep 0.05
                done
                echo lives
                """, temporary: temporary)
            #expect(run.output == "\(128 + SIGTERM)\n")
            #expect(try names(in: temporary).isEmpty)
        }
    }
}
