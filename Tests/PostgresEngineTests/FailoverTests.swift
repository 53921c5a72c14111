import CoreDataModel
import FaultProxy
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Synchronization
import Testing

/// The message that asks the server to commit: the text and its end.
private let commit = "COMMIT\0"

/// What a server answers to new connections while its disk is full.
private let noInitFile = FaultProxy.Mode.answers(state: "XX000", message: "could not write init file")

extension FaultProxy {
    fileprivate func loseAll(thenAnswering mode: Mode) {
        set(.refuses)
        set(mode)
    }
}

/// A store behind a network that loses what it is told to lose.
struct Behind {
    let database: TestDatabase
    let proxy: FaultProxy
    let url: URL
    let engine: PostgresEngine

    init(_ options: [AnyHashable: Any] = [:]) throws {
        database = try TestDatabase()
        let folder = "\(database.server.folder)/\(database.name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        proxy = try FaultProxy(
            listeningAt: .file("\(folder)/.s.PGSQL.5432"),
            to: .file("\(database.server.folder)/.s.PGSQL.5432"))
        url = try #require(URL(string: "postgresql:///\(database.name)?host=\(folder)&user=postgres"))
        engine = PostgresEngine(StoreFacts(url: url, options: options))
        try engine.open(Notes.model)
    }

    func texts() throws -> [String] { try database.rows("SELECT text FROM note ORDER BY text").map { $0[0] } }
}

@Suite("A save whose connection is lost", .needsPostgres)
struct FailoverTests {
    @Test("happens once when the server has the COMMIT, and its answer is lost")
    func answerLost() throws {
        let store = try Behind()
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.set(.after(commit))
        _ = try store.engine.save(changes)
        #expect(!store.proxy.isAmbushSet)
        #expect(try store.texts() == ["a"])
    }

    @Test("happens once when the server never gets the COMMIT")
    func commitLost() throws {
        let store = try Behind()
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.set(.before(commit))
        _ = try store.engine.save(changes)
        #expect(!store.proxy.isAmbushSet)
        #expect(try store.texts() == ["a"])
    }

    @Test("happens once when the connection is lost before")
    func statementLost() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        let changes = try Notes.changes(store.engine, ["b"])
        store.proxy.set(.before("pippin_"))
        _ = try store.engine.save(changes)
        #expect(try store.texts() == ["a", "b"])
    }

    @Test("happens where the server had ended the connection before the objects got their keys")
    func endedBeforeKeys() throws {
        let store = try Behind()
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        #expect(try store.texts() == ["a"])
    }

    @Test("is counted once by programs that look at the count of saves")
    func counted() throws {
        let store = try Behind()
        let before = try #require(try store.engine.sharing?.changeCount())
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.set(.after(commit))
        _ = try store.engine.save(changes)
        #expect(try store.engine.sharing?.changeCount() == before)
        #expect(try store.database.rows("SELECT sum(count) FROM pippin.saves") == [["1"]])
    }

    @Test("is done by a writer whose row is gone")
    func rowOfWriterGone() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        try store.database.connect().execute("DELETE FROM pippin.writers")
        _ = try store.engine.save(Notes.changes(store.engine, ["b"]))
        #expect(try store.texts() == ["a", "b"])
        #expect(try store.database.rows("SELECT count(*), min(number) FROM pippin.writers") == [["1", "3"]])
    }

    @Test("is begun anew when the server has ended the connection before, which leaves nothing in doubt")
    func endedBefore() throws {
        let store = try Behind([NSPostgreSQLFailoverTimeoutOption: 0.3])
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        let changes = try Notes.changes(store.engine, ["b"])
        store.proxy.set(.refuses)
        usleep(50_000)
        let error = #expect(throws: NSError.self) { _ = try store.engine.save(changes) }
        #expect(error.flatMap { NSPostgreSQLUndecidedSave(of: $0) } == nil)
        store.proxy.set(.passes)
        _ = try store.engine.save(changes)
        #expect(try store.texts() == ["a", "b"])
    }

    @Test("waits for a server that lets nobody in while its disk is full")
    func diskFull() throws {
        let store = try Behind()
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.loseAll(thenAnswering: noInitFile)
        let room = Thread { [proxy = store.proxy] in
            usleep(600_000)
            proxy.set(.passes)
        }
        room.start()
        _ = try store.engine.save(changes)
        #expect(try store.texts() == ["a"])
    }

    @Test("fails with the words of a server that lets nobody in until the end, and is done later")
    func diskStaysFull() throws {
        let store = try Behind([NSPostgreSQLFailoverTimeoutOption: 0.3])
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        let changes = try Notes.changes(store.engine, ["b"])
        store.proxy.loseAll(thenAnswering: noInitFile)
        let error = #expect(throws: NSError.self) { _ = try store.engine.save(changes) }
        #expect(error?.code == CoreDataErrorCode.persistentStoreOpen)
        #expect(error?.localizedDescription.contains("the server lets nobody in") == true)
        #expect(error?.localizedDescription.contains("could not write init file") == true)
        store.proxy.set(.passes)
        _ = try store.engine.save(changes)
        #expect(try store.texts() == ["a", "b"])
    }

    @Test("fails with the error of a trigger that divides by zero, which is not a conflict")
    func dividing() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        try store.database.connect().execute(
            """
            CREATE FUNCTION divide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 1 / 0; RETURN NEW; END $$;
            CREATE TRIGGER divide BEFORE UPDATE ON note FOR EACH ROW EXECUTE FUNCTION divide()
            """)
        let rows = try store.engine.fetchRows(Notes.plan())
        let error = #expect(throws: NSError.self) { _ = try store.engine.save(Notes.update(rows, to: "b")) }
        #expect(error?.localizedDescription.contains("division by zero") == true)
        #expect(try store.texts() == ["a"])
    }

    @Test("is undecided when nobody can be asked, and can be asked for later, by another process, too")
    func undecided() throws {
        let store = try Behind([NSPostgreSQLFailoverTimeoutOption: 0.3])
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.set(.after(commit), thenRefuses: true)
        let error = #expect(throws: NSError.self) { _ = try store.engine.save(changes) }
        let save = try #require(error.flatMap { NSPostgreSQLUndecidedSave(of: $0) })
        #expect(error?.localizedDescription.contains("is not known") == true)
        let kept = try JSONDecoder().decode(NSPostgreSQLUndecidedSave.self, from: JSONEncoder().encode(save))
        let unreachable = #expect(throws: NSError.self) {
            _ = try kept.wasSaved(at: store.url, options: [NSPostgreSQLFailoverTimeoutOption: 0.1])
        }
        #expect(unreachable?.localizedDescription.contains("cannot be reached") == true)
        store.proxy.set(.passes)
        #expect(try kept.wasSaved(at: store.url))
        #expect(try kept.wasSaved(at: store.url))
        #expect(try store.texts() == ["a"])
        // The store goes on, and what it saves then is another matter.
        _ = try store.engine.save(Notes.changes(store.engine, ["b"]))
        #expect(try kept.wasSaved(at: store.url))
    }

    @Test("does not come through later if it was asked for, and is not there")
    func fenced() throws {
        let store = try Behind([NSPostgreSQLFailoverTimeoutOption: 0.3])
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.set(.before(commit), thenRefuses: true)
        let error = #expect(throws: NSError.self) { _ = try store.engine.save(changes) }
        let save = try #require(error.flatMap { NSPostgreSQLUndecidedSave(of: $0) })
        store.proxy.set(.passes)
        #expect(try save.wasSaved(at: store.url) == false)
        let rows = try store.database.rows("SELECT is_saved FROM pippin.writers WHERE NOT is_saved")
        #expect(rows.count == 1)
        #expect(try store.texts() == [])
    }

    @Test("is waited for when the server is still about to commit it")
    func underWay() throws {
        let store = try Behind()
        // Each commit takes a second and a half, in a trigger that runs when it is asked for.
        let administrator = try store.database.connect()
        try administrator.execute(
            """
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON note DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()
            """)
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.set(.silence(commit, seconds: 0))
        let cutting = Thread { [proxy = store.proxy] in
            while proxy.isAmbushSet { usleep(100) }
            usleep(200_000)
            proxy.set(.refuses)
            proxy.set(.passes)
        }
        cutting.start()
        _ = try store.engine.save(changes)
        #expect(try store.texts() == ["a"])
    }

    @Test("finds out that a server stands still, which says nothing")
    func silence() throws {
        let store = try Behind([NSPostgreSQLAnswerTimeoutOption: 0.5, NSPostgreSQLFailoverTimeoutOption: 20])
        let changes = try Notes.changes(store.engine, ["a"])
        store.proxy.set(.silent)
        let back = Thread { [proxy = store.proxy] in
            sleep(4)
            proxy.set(.passes)
        }
        back.start()
        _ = try store.engine.save(changes)
        #expect(try store.texts() == ["a"])
    }

    @Test("A slow statement is not taken for a server that stands still")
    func slow() throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        connection.watchAnswers(seconds: 0.3)
        try connection.execute("SELECT pg_sleep(1.5)")
        #expect(connection.isUsable)
    }

    @Test("A long transaction that is lost leaves nothing, and says so")
    func longTransaction() throws {
        let store = try Behind()
        try store.engine.beginLongTransaction(makesIndexesLater: false)
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        store.proxy.set(.before(commit))
        let error = #expect(throws: NSError.self) { try store.engine.endLongTransaction(commits: true) }
        #expect(error?.localizedDescription.contains("Nothing was saved") == true)
        #expect(try store.texts() == [])
        _ = try store.engine.save(Notes.changes(store.engine, ["b"]))
        #expect(try store.texts() == ["b"])
    }

    @Test("A generation that is pinned ends with an error, and later ones see what is there")
    func pinned() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        store.engine.readGeneration = try store.engine.pinning?.pinGeneration()
        #expect(try store.engine.fetchCount(Notes.plan()) == 1)
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        #expect(throws: NSError.self) { _ = try store.engine.fetchCount(Notes.plan()) }
        store.engine.readGeneration = nil
        #expect(try store.engine.fetchCount(Notes.plan()) == 1)
    }

    @Test("A generation is pinned once the server's disk has room again")
    func pinnedAfterwards() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a"]))
        store.proxy.loseAll(thenAnswering: noInitFile)
        let room = Thread { [proxy = store.proxy] in
            usleep(600_000)
            proxy.set(.passes)
        }
        room.start()
        store.engine.readGeneration = try store.engine.pinning?.pinGeneration()
        #expect(try store.engine.fetchCount(Notes.plan()) == 1)
    }

    @Test("Portions that are cut off end with an error, not with fewer rows")
    func portions() throws {
        let store = try Behind()
        _ = try store.engine.save(Notes.changes(store.engine, ["a", "b", "c"]))
        let portions = try store.engine.portions(Notes.plan())
        #expect(try portions.next(1).count == 1)
        store.proxy.set(.refuses)
        store.proxy.set(.passes)
        #expect(throws: NSError.self) { _ = try portions.next(1) }
    }

    @Test("A fetch that is cut off after it has handed out rows ends with an error, and hands out none twice")
    func stream() throws {
        let store = try Behind()
        var next = 0
        _ = try store.engine.insertBatch(BatchInsertPlan(entity: Notes.entity("Note"))) { row in
            guard next < 60_000 else { return false }
            row.values[0] = .string("\(next)")
            next += 1
            return true
        }
        // So many rows are read in portions the next time.
        try store.engine.forEachRow(Notes.plan()) { _ in true }
        var count = 0
        #expect(throws: NSError.self) {
            try store.engine.forEachRow(Notes.plan()) { _ in
                count += 1
                if count == 100 {
                    store.proxy.set(.refuses)
                    store.proxy.set(.passes)
                }
                return true
            }
        }
        #expect((100..<60_000).contains(count))
        var whole = 0
        try store.engine.forEachRow(Notes.plan()) { _ in
            whole += 1
            return true
        }
        #expect(whole == 60_000)
    }

    @Test("A fetch of some thousand rows is done again where it is cut off: it has all before it hands out any")
    func received() throws {
        let store = try Behind()
        // More than the network holds at once.
        let padding = String(repeating: "-", count: 2000)
        _ = try store.engine.save(Notes.changes(store.engine, (0..<5000).map { "note \($0) \(padding)" }))
        // As a result the first time, and copied then.
        for ambush: FaultProxy.Ambush? in [nil, .before("COPY"), .after("COPY")] {
            if let ambush { store.proxy.set(ambush) }
            var count = 0
            try store.engine.forEachRow(Notes.plan()) { _ in
                count += 1
                if count == 1, ambush != nil {
                    store.proxy.set(.refuses)
                    store.proxy.set(.passes)
                }
                return true
            }
            #expect(count == 5000)
        }
    }

    @Test("A role that may not write marks saves without them")
    func withoutMarks() throws {
        let store = try Behind()
        let administrator = try store.database.connect()
        try administrator.execute(
            """
            CREATE ROLE unmarked_\(store.database.name) LOGIN;
            GRANT USAGE ON SCHEMA public, pippin TO unmarked_\(store.database.name);
            GRANT SELECT ON ALL TABLES IN SCHEMA public, pippin TO unmarked_\(store.database.name);
            GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO unmarked_\(store.database.name);
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO unmarked_\(store.database.name);
            GRANT UPDATE ON pippin.stores, pippin.saves TO unmarked_\(store.database.name)
            """)
        let url = try #require(
            URL(string: store.url.absoluteString.replacing("=postgres", with: "=unmarked_\(store.database.name)")))
        let engine = PostgresEngine(StoreFacts(url: url, options: nil))
        try engine.open(Notes.model)
        _ = try engine.save(Notes.changes(engine, ["a"]))
        store.proxy.set(.after(commit))
        let error = #expect(throws: NSError.self) { _ = try engine.save(Notes.changes(engine, ["b"])) }
        #expect(error.flatMap { NSPostgreSQLUndecidedSave(of: $0) } == nil)
        #expect(error?.localizedDescription.contains("is not known") == true)
    }

    @Test("is not taken for safe when the server stops waiting for its standbys, which is but a warning")
    func notReplicated() throws {
        // A server that waits for a standby which never comes, unless who saves asks it not to.
        let server = try PostgresServer(
            settings: ["-c synchronous_standby_names=nobody", "-c synchronous_commit=local"])
        defer { server.stop() }
        let plain = try #require(URL(string: server.uri(database: "postgres")))
        let maker = PostgresEngine(StoreFacts(url: plain, options: nil))
        try maker.open(Notes.model)
        let waiting = try #require(URL(string: plain.absoluteString + "&options=-c%20synchronous_commit%3Don"))
        let engine = PostgresEngine(
            StoreFacts(url: waiting, options: [NSPostgreSQLFailoverTimeoutOption: 1]))
        // An administrator who cancels what waits for the standby.
        let isOver = Atomic<Bool>(false)
        defer { isOver.store(true, ordering: .relaxed) }
        let cancelling = Thread {
            let connection = try? PostgresConnection(ConnectionTarget(plain.absoluteString))
            while !isOver.load(ordering: .relaxed) {
                _ = try? connection?.query(
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                usleep(50_000)
            }
        }
        cancelling.start()
        try engine.open(Notes.model)
        let changes = try Notes.changes(engine, ["a"])
        let error = #expect(throws: NSError.self) { _ = try engine.save(changes) }
        let save = try #require(error.flatMap { NSPostgreSQLUndecidedSave(of: $0) })
        // It is there, and once somebody need not wait for the standby, it can be said.
        #expect(try save.wasSaved(at: plain))
        #expect(try maker.fetchCount(Notes.plan()) == 1)
    }
}
