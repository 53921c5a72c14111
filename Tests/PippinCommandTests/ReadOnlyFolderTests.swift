import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Stores in folders that cannot be written", .ownThread)
struct ReadOnlyFolderTests {
    /// Runs the program with a store whose latest changes are in its log, as a user who may not write to the folder.
    /// The arguments are made of the store's path, and of a folder that may be written to.
    private func run(
        _ command: (_ store: String, _ folder: String) -> String
    ) throws -> (status: Int32, output: String, errors: String) {
        let store = try SmallStore()
        let folder = store.folder.url
        let (read, closed) = (folder.appendingPathComponent("open"), folder.appendingPathComponent("closed"))
        try FileManager.default.moveItem(at: store.folder.store, to: read)
        try FileManager.default.createDirectory(at: closed, withIntermediateDirectories: false)
        let path = closed.appendingPathComponent("store.sqlite").path
        // The log is there as long as its connection is open; both files are copied meanwhile.
        let connection = try Connection(path: read.path, mode: .readWrite)
        try connection.execute("UPDATE ZBOOK SET ZPAGES = 475 WHERE ZTITLE = 'Emma'")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: read.path + suffix, toPath: path + suffix)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: closed.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: closed.path) }
        // The administrator may write anywhere.
        let user = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : ""
        return try withExtendedLifetime(connection) {
            try shell("\(user)\"$PIPPIN\" \(command(path, folder.path))", temporary: folder)
        }
    }

    private func query(_ arguments: String) throws -> (status: Int32, output: String, errors: String) {
        try run { store, _ in "query '\(store)' 'Book where title == \"Emma\"' \(arguments)" }
    }

    @Test("are read in place with the changes in a log, for which SQLite needs no file there")
    func inPlace() throws {
        let run = try query("--in-place")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("475"))
    }

    @Test("are read with those changes otherwise")
    func copy() throws {
        let run = try query("")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("475"))
    }

    @Test("are copied with those changes")
    func copied() throws {
        let run = try run { store, folder in
            "copy '\(store)' '\(folder)/new.sqlite' && \"$PIPPIN\" query '\(folder)/new.sqlite' 'Book where pages == 475'"
        }
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Emma"))
    }
}

@Suite("The files beside a store", .ownThread)
struct QuietReadingTests {
    /// A store whose latest changes are in a log that no program has open, with or without a `-shm` of that time.
    private func makeStore(in folder: URL, withShared: Bool) throws -> (path: String, model: String) {
        let store = try SmallStore()
        let model = folder.appendingPathComponent("Small.xcdatamodeld").path
        #expect(CommandRun("model", "extract", store.path, "--output", model).status == 0)
        let path = folder.appendingPathComponent("store.sqlite").path
        let connection = try Connection(path: store.path, mode: .readWrite)
        try connection.execute("UPDATE ZBOOK SET ZPAGES = 475 WHERE ZTITLE = 'Emma'")
        for suffix in withShared ? ["", "-wal", "-shm"] : ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: path + suffix)
        }
        return withExtendedLifetime(connection) { (path, model) }
    }

    private func contents(beside path: String) throws -> [String: Data] {
        let store = URL(fileURLWithPath: path)
        let names = try names(in: store.deletingLastPathComponent()).filter { $0.hasPrefix(store.lastPathComponent) }
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try Data(contentsOf: store.deletingLastPathComponent().appendingPathComponent($0)))
            })
    }

    @Test(
        "stay as they are when it is copied, and when a migration finds nothing to do", arguments: [false, true])
    func stay(withShared: Bool) throws {
        let folder = try TestFolder()
        let (path, model) = try makeStore(in: folder.url, withShared: withShared)
        let before = try contents(beside: path)
        #expect(before.count == (withShared ? 3 : 2))
        let copy = folder.file("new.sqlite").path
        let copied = try shell("\"$PIPPIN\" copy '\(path)' '\(copy)'", temporary: folder.url)
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(try contents(beside: path) == before)
        #expect(
            try plainNumber("SELECT ZPAGES FROM ZBOOK WHERE ZTITLE = 'Emma'", in: URL(fileURLWithPath: copy)) == 475)
        let idle = CommandRun("migrate", path, "--to", model)
        #expect(idle.output == "“store.sqlite” fits the model already; there is nothing to do.\n", "\(idle.errors)")
        #expect(try contents(beside: path) == before)
    }

    @Test("A store without a copy of its model is not copied, which is said without a word of migrations")
    func withoutModel() throws {
        let store = try SmallStore()
        try execute("DROP TABLE Z_MODELCACHE", in: store.folder.store)
        let run = try shell(
            "\"$PIPPIN\" copy '\(store.path)' '\(store.folder.file("new.sqlite").path)'", temporary: store.folder.url)
        #expect(run.status == 1)
        #expect(
            run.errors == """
                pippin: “store.sqlite” keeps no copy of its model that can be read, which this command needs; \
                pippin dump, query, export and copy read the store with --model MODEL

                """)
    }
}
