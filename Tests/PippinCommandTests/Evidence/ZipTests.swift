import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand
@testable import StoreReading

@Suite("Stores in ZIP archives")
struct ZipTests {
    /// A store whose log has a change, as files of an archive.
    private func files(at path: String) throws -> [ZipFile.File] {
        let made = try SmallStore()
        let connection = try Connection(path: made.path, mode: .readWrite)
        try connection.execute(
            "PRAGMA wal_autocheckpoint = 0; UPDATE ZBOOK SET ZTITLE = 'Changed in the log' WHERE ZTITLE = 'Emma'")
        return try withExtendedLifetime(connection) {
            try ["", "-wal"].map { suffix in
                ZipFile.File(
                    name: path + suffix, content: try Data(contentsOf: URL(fileURLWithPath: made.path + suffix)))
            }
        }
    }

    @Test(
        "scan finds them by their content, with what their logs have", arguments: [false, true], [false, true])
    func scan(isWide: Bool, isDeflated: Bool) throws {
        try inTestFolder { folder in
            let archive = folder.appendingPathComponent("case.zip")
            var files = try files(at: "Library/Notes")
            files.append(ZipFile.File(name: "note.txt", content: Data("nothing".utf8)))
            files = files.map { file in
                var file = file
                file.isDeflated = isDeflated
                return file
            }
            try ZipFile.data(files, isWide: isWide).write(to: archive)
            let run = CommandRun("scan", archive.path, "--json")
            #expect(run.status == 0, "\(run.errors)")
            let lines = run.output.split(separator: "\n")
            #expect(lines.count == 1)
            #expect(run.output.contains("\"path\": \"\(archive.path)/Library/Notes\""))
            #expect(run.output.contains("\"Book\": 3"))
        }
    }

    @Test("timeline reads the dates of all of them, and names each by its place in the archive")
    func timeline() throws {
        try inTestFolder { folder in
            let archive = folder.appendingPathComponent("case.zip")
            try ZipFile.data(files(at: "a/store") + files(at: "b/store")).write(to: archive)
            let run = CommandRun("timeline", archive.path, "--dates", "Book.pages=unix")
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("\"title\": \"Changed in the log\""))
            for place in ["a/store", "b/store"] {
                #expect(run.output.contains("\"source\": \"\(archive.path)/\(place)\""))
            }
        }
    }

    @Test("a backup of a device in an archive is read by its list, with the logs under their own names")
    func backup() throws {
        try inTestFolder { folder in
            let list = folder.appendingPathComponent("Manifest.db")
            try Connection(path: list.path, mode: .create).execute(
                """
                CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB);
                INSERT INTO Files VALUES ('4f98', 'HomeDomain', 'Library/Books.sqlite', 1, NULL),
                    ('4fab', 'HomeDomain', 'Library/Books.sqlite-wal', 1, NULL);
                """)
            let files = try files(at: "").map(\.content)
            let archive = folder.appendingPathComponent("backup.zip")
            try ZipFile.data([
                ZipFile.File(name: "Backup/Manifest.db", content: Data(contentsOf: list)),
                ZipFile.File(name: "Backup/4f/4f98", content: files[0]),
                ZipFile.File(name: "Backup/4f/4fab", content: files[1]),
            ]).write(to: archive)
            let scan = CommandRun("scan", archive.path)
            #expect(scan.output.contains("on the device  HomeDomain/Library/Books.sqlite"), "\(scan.errors)")
            #expect(scan.output.contains("its log        \(archive.path)/Backup/4f/4fab"))
            #expect(
                CommandRun("timeline", archive.path, "--dates", "pages=unix").output.contains("Changed in the log"))
        }
    }

    @Test("what is encrypted, damaged or compressed by another method is named, and the others are read")
    func unreadable() throws {
        try inTestFolder { folder in
            var files = try files(at: "whole")
            files.append(ZipFile.File(name: "secret", content: files[0].content, isEncrypted: true))
            files.append(ZipFile.File(name: "damaged", content: files[0].content, isDeflated: false))
            var bytes = try ZipFile.data(files)
            // In the middle of the last file.
            let place = try #require(bytes.range(of: Data("damaged".utf8))).upperBound + files[0].content.count / 2
            bytes[place] ^= 0xFF
            let archive = folder.appendingPathComponent("case.zip")
            try bytes.write(to: archive)
            let run = CommandRun("scan", archive.path, "--json")
            #expect(run.output.split(separator: "\n").count == 1)
            #expect(run.errors.contains("1 file in “\(archive.path)” is encrypted, and left out"))
            #expect(run.errors.contains("damaged” cannot be read: it is damaged: its size or its checksum"))
        }
    }

    @Test("an archive that is cut off, and one that says too much, end with an error or without a store")
    func damaged() throws {
        try inTestFolder { folder in
            let whole = try ZipFile.data(files(at: "store"))
            let archive = folder.appendingPathComponent("case.zip")
            try whole.dropLast(100).write(to: archive)
            let cut = CommandRun("scan", archive.path)
            #expect(cut.status == 1)
            #expect(cut.errors.contains("the list of files at its end is not there"))
            var random = SplitMix(state: 3)
            for _ in 0..<200 {
                var bytes = whole
                for _ in 0..<8 {
                    // The list and the headers.
                    let place = whole.count - 1 - Int.random(in: 0..<300, using: &random)
                    bytes[place] = .random(in: 0...255, using: &random)
                }
                try bytes.write(to: archive)
                #expect([0, 1].contains(CommandRun("timeline", archive.path).status))
            }
        }
    }
}
