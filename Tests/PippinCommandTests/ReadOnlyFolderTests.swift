import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Stores in folders that cannot be written")
struct ReadOnlyFolderTests {
    /// Runs the program with a store whose latest changes are in its log, as a user who may not write to the folder.
    private func run(_ arguments: String) throws -> (status: Int32, output: String, errors: String) {
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
            try shell(
                "\(user)\"$PIPPIN\" query '\(path)' 'Book where title == \"Emma\"' \(arguments)", temporary: folder)
        }
    }

    @Test("cannot be read in place with changes in a log, which says what to do instead")
    func inPlace() throws {
        let run = try run("--in-place")
        #expect(run.status == 1)
        #expect(run.errors.contains("cannot be read in place: its folder is read-only"))
        #expect(run.errors.contains("Leave out --in-place, so that a copy is read"))
    }

    @Test("are read with those changes otherwise")
    func copy() throws {
        let run = try run("")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("475"))
    }
}
