import CoreData
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

/// A store of pictures, whose photos lie in files beside it.
private struct Album {
    let folder: TestFolder
    var path: String { folder.store.path }
    var files: URL { folder.file(".store_SUPPORT/_EXTERNAL_DATA") }

    init(_ count: Int = 3) throws {
        folder = try TestFolder()
        let photo = NSAttributeDescription()
        (photo.name, photo.attributeType, photo.isOptional) = ("photo", .binaryDataAttributeType, true)
        photo.allowsExternalBinaryDataStorage = true
        let picture = NSEntityDescription()
        (picture.name, picture.properties) = ("Picture", [photo])
        let model = NSManagedObjectModel()
        model.entities = [picture]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 0..<count {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
                object.setValue(Data(repeating: UInt8(number + 1), count: 200_000), forKey: "photo")
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    /// Removes the file of the first picture.
    func loseOne() throws -> URL {
        let name = try #require(plainRows("SELECT ZPHOTO FROM ZPICTURE WHERE Z_PK = 1", in: folder.store)[0][0])
        let bytes = stride(from: 2, to: name.count - 2, by: 2).map { at in
            UInt8(name.dropFirst(at).prefix(2), radix: 16) ?? 0
        }
        let file = files.appendingPathComponent(String(decoding: bytes, as: UTF8.self))
        try FileManager.default.removeItem(at: file)
        return file
    }
}

@Suite("Large values in files, and what is made of a store")
struct LargeValueTests {
    @Test("A value whose file is gone is not a value of an export, which says so", arguments: ["csv", "json", "jsonl"])
    func exportWithoutFile(_ format: String) throws {
        let (source, target) = (try Album(), try Album(0))
        let gone = try source.loseOne()
        let file = source.folder.file("pictures.\(format)").path
        let run = CommandRun("export", source.path, "Picture", "--output", file)
        #expect(run.status == 1)
        #expect(run.errors.contains("Picture/p1"), "\(run.errors)")
        #expect(run.errors.contains(gone.path), "\(run.errors)")
        let query = CommandRun("query", source.path, "Picture", "--format", format)
        #expect(query.status == 1)
        #expect(!query.output.contains("missing"))
        #expect(CommandRun("import", target.path, "Picture", file).errors.isEmpty)
        let photos = try plainSQL(
            "SELECT ZPHOTO IS NULL, length(ZPHOTO) FROM ZPICTURE ORDER BY Z_PK", in: target.folder.store)
        #expect(photos == ["1|", "0|38", "0|38"])
    }

    @Test("An object that a dump marks, since the file of a value is gone, is not imported without it in silence")
    func importOfMark() throws {
        let (source, target) = (try Album(), try Album(0))
        let gone = try source.loseOne()
        let file = target.folder.file("pictures.json")
        let mark = "{\"photo\": {\"missing\": \"\(gone.path)\", \"reason\": \"No such file or directory\"}}"
        try "[{\"photo\": null, \"$marks\": \(mark)}]".write(
            to: file, atomically: true, encoding: .utf8)
        let run = CommandRun("import", target.path, "Picture", file.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("element 1: “photo” could not be read when the file was written"), "\(run.errors)")
        #expect(try plainNumber("SELECT COUNT(*) FROM ZPICTURE", in: target.folder.store) == 0)
    }

    @Test("A mended copy has the files of its values, and nobody can read it who may not read the store")
    func repair() throws {
        let album = try Album()
        #expect(chmod(album.path, 0o600) == 0)
        let copy = album.folder.file("mended.sqlite")
        let run = CommandRun("check", album.path, "--repair", copy.path)
        #expect(run.output.hasSuffix("mended.sqlite: nothing is wrong\n"), "\(run.output)")
        #expect(try mode(of: copy) == 0o600)
        let copied = try names(in: album.folder.file(".mended_SUPPORT/_EXTERNAL_DATA"))
        #expect(try copied == names(in: album.files))
        let other = album.folder.file("store.mended")
        #expect(CommandRun("check", album.path, "--repair", other.path).output.hasSuffix("nothing is wrong\n"))
    }

    @Test("That a mended copy cannot be written is not blamed on the store")
    func repairNowhere() throws {
        let album = try Album(0)
        let run = CommandRun("check", album.path, "--repair", "/nonexistent/r.sqlite")
        #expect(run.status == 1)
        #expect(run.errors.contains("/nonexistent/r.sqlite"), "\(run.errors)")
        #expect(!run.errors.contains("damaged"))
    }

    @Test("Under the name of a link, a store is read with its log, and its files stay where they are")
    func linked() throws {
        let album = try Album()
        let elsewhere = album.folder.file("elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
        let link = elsewhere.appendingPathComponent("link.sqlite").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: album.path)
        let writer = try Album.write("UPDATE ZPICTURE SET Z_OPT = 7; DELETE FROM ZPICTURE WHERE Z_PK = 3", album.path)
        try withExtendedLifetime(writer) {
            for command in [["query"], ["query", "--in-place"]] {
                let run = CommandRun(arguments: command + [link, "Picture", "--format", "csv"])
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.output.split(separator: "\r\n").count == 3, "\(command)")
            }
            #expect(CommandRun("info", link).output.contains("2 values in files; 1 file that nothing refers to"))
            let objects = try CommandRun("dump", "--json", link).objects()
            #expect(objects["Picture"]?.count == 2)
            #expect(CommandRun("check", link).status == 0)
            #expect(CommandRun("model", "describe", link).status == 0)
        }
        let file = album.folder.file("pictures.json")
        try "[{\"photo\": \"\(Data(count: 300_000).base64EncodedString())\"}]".write(
            to: file, atomically: true, encoding: .utf8)
        #expect(CommandRun("import", link, "Picture", file.path).errors.isEmpty)
        #expect(try names(in: elsewhere) == ["link.sqlite"])
        #expect(try names(in: album.files).count == 4)
    }

    @Test("A copy is for those only who may read the store, has its counters, and lacks no file in silence", .ownThread)
    func copy() throws {
        let album = try Album()
        _ = try album.loseOne()
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_NAME = 'Picture'", in: album.folder.store)
        #expect(chmod(album.path, 0o600) == 0)
        let copy = album.folder.file("copy.sqlite")
        let run = try shell("$PIPPIN copy '\(album.path)' '\(copy.path)'", temporary: album.folder.url)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try mode(of: copy) == 0o600)
        #expect(run.errors.contains("1 of 3 files"), "\(run.errors)")
        #expect(try plainNumber("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Picture'", in: copy) == 9)
    }
}

extension Album {
    /// A connection that stays open, so that what it has changed is only in the log.
    fileprivate static func write(_ sql: String, _ path: String) throws -> Connection {
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        try connection.execute(sql)
        return connection
    }
}
