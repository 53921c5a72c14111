import Foundation
import Pippin
import SQLiteConnection
import TestSupport
import Testing

@Suite("Errors of a store are errors of Pippin")
struct StoreErrorTests {
    struct Song: CoreModel {
        let id: String
        var title: String
        var album: Album?
    }
    struct Album: CoreModel {
        enum Mood: String, Codable { case calm, wild }
        let id: String
        var year: Int
        var mood = Mood.calm
    }

    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func manager() -> PersistenceManager {
        PersistenceManager(models: Song.self, store: .file(folder.file("songs.sqlite")))
    }

    private func code(_ work: () async throws -> Void) async -> PersistenceError.Code? {
        let error = await #expect(throws: PersistenceError.self) { try await work() }
        #expect(error?.description.isEmpty == false)
        return error?.code
    }

    @Test("name the path of a file that is not a store") func noStore() async throws {
        try Data(repeating: 65, count: 5000).write(to: folder.file("songs.sqlite"))
        let error = await #expect(throws: PersistenceError.self) { try await manager().load() }
        #expect(error?.code == .notOpened)
        #expect(error?.path == folder.file("songs.sqlite").path)
        #expect(await code { _ = try await manager().fetch(Song.self) } == .notOpened)
        #expect(await code { try await manager().save(Song(id: "a", title: "")) } == .notOpened)
    }

    @Test("have the path and Core Data's code of a file that is not a store and cannot be destroyed")
    func notDestroyed()
        async throws
    {
        try Data(repeating: 65, count: 5000).write(to: folder.file("songs.sqlite"))
        let manager = manager()
        for work in [{ try await manager.destroy() }, { try await manager.startOver() }] {
            let error = await #expect(throws: PersistenceError.self) { try await work() }
            #expect(error?.code == .notOpened)
            #expect(error?.path == folder.file("songs.sqlite").path)
            let (bridged, underlying) = (try #require(error) as NSError, try #require(error?.underlying) as NSError)
            #expect(bridged.domain == NSCocoaErrorDomain)
            #expect(bridged.code == underlying.code)
            #expect(bridged.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        }
    }

    @Test("come from a folder in the place of the file") func folderInPlace() async throws {
        let manager = PersistenceManager(models: Song.self, store: .file(folder.url))
        #expect(await code { try await manager.load() } == .notOpened)
    }

    @Test("say that a format string cannot be parsed") func malformed() async {
        #expect(
            await code { _ = try await manager().fetch(Song.self, where: .format("title == == 1")) } == .malformedFilter
        )
        #expect(
            await code { _ = try await manager().count(Song.self, where: .format("title == == 1")) } == .malformedFilter
        )
    }

    @Test("name what a format string asks for and the store does not have, whoever asks") func unknown() async throws {
        let (manager, filter) = (manager(), Filter<Song>.format("nowhere == 1"))
        try await manager.save(Song(id: "a", title: "b"))
        #expect(await code { _ = try await manager.fetch(Song.self, where: filter) } == .readFailed)
        #expect(await code { _ = try await manager.first(Song.self, where: filter) } == .readFailed)
        #expect(await code { _ = try await manager.count(Song.self, where: filter) } == .readFailed)
        #expect(await code { _ = try await manager.exists(Song.self, where: filter) } == .readFailed)
        #expect(await code { _ = try await manager.max(Song.self, \.title, where: filter) } == .readFailed)
        #expect(await code { _ = try await manager.delete(Song.self, where: filter) } == .readFailed)
        #expect(
            await code {
                _ = try await manager.write { try $0.update(Song.self, where: filter) { $0.set(\.title, to: "") } }
            } == .readFailed)
        #expect(
            await code { try await manager.update(Song.self, where: filter) { $0.set(\.title, to: "") } } == .saveFailed
        )
        #expect(await code { for try await _ in manager.observe(Song.self, where: filter) {} } == .readFailed)
        let songs = try await manager.count(Song.self)
        #expect(songs == 1)
    }

    @Test("come from a table that is gone, whoever asks") func missingTable() async throws {
        let manager = manager()
        try await manager.save(Song(id: "a", title: "b", album: Album(id: "c", year: 1)))
        try Connection(path: folder.file("songs.sqlite").path, mode: .readWrite).execute("DROP TABLE ZALBUM")
        #expect(await code { _ = try await manager.fetch(Song.self) } == .readFailed)
        #expect(await code { _ = try await manager.find(Album.self, id: "c") } == .readFailed)
        #expect(await code { _ = try await manager.find(Album.self, ids: ["c"]) } == .readFailed)
        #expect(await code { _ = try await manager.sum(Album.self, \.year) } == .readFailed)
        #expect(await code { try await manager.deleteAll(Album.self) } == .saveFailed)
    }

    @Test("come from a save into a table that is gone, and from an import") func saving() async throws {
        let manager = manager()
        try await manager.save(Song(id: "a", title: "b"))
        try Connection(path: folder.file("songs.sqlite").path, mode: .readWrite).execute("DROP TABLE ZALBUM")
        let album = Album(id: "c", year: 1)
        #expect(await code { try await manager.save(album) } == .saveFailed)
        #expect(await code { try await manager.insert(album) } == .saveFailed)
        #expect(
            await code { try await manager.write { try $0.save([album, Album(id: "d", year: 2)]) } } == .saveFailed)
        for albums in [[album], [album, Album(id: "d", year: 2)]] {
            let stream = AsyncStream(Album.self) { continuation in
                for album in albums { continuation.yield(album) }
                continuation.finish()
            }
            #expect(await code { try await manager.importModels(stream) } == .saveFailed)
        }
    }

    @Test("name a stored value that is not a case of an enumeration, in what the store computes") func unknownCase()
        async throws
    {
        let manager = manager()
        try await manager.save([Album(id: "a", year: 1, mood: .calm), Album(id: "b", year: 1, mood: .wild)])
        try Connection(path: folder.file("songs.sqlite").path, mode: .readWrite).execute(
            "UPDATE ZALBUM SET ZMOOD = 'sad' WHERE ZID = 'b'")
        let error = await #expect(throws: PersistenceError.self) {
            _ = try await manager.count(Album.self, by: \.mood)
        }
        #expect(error?.code == .unreadable)
        #expect(error?.property == "mood")
        #expect(await code { _ = try await manager.distinct(Album.self, \.mood) } == .unreadable)
        #expect(await code { _ = try await manager.sum(Album.self, \.year, by: \.mood) } == .unreadable)
        #expect(await code { _ = try await manager.fetch(Album.self) } == .unreadable)
    }

    @Test("an error of Core Data's own is at hand beside it, and its code in the bridged one") func underlying()
        async throws
    {
        try Data(repeating: 65, count: 5000).write(to: folder.file("songs.sqlite"))
        let error = await #expect(throws: PersistenceError.self) { try await manager().load() }
        let bridged = try #require(error) as NSError
        #expect(bridged.domain == NSCocoaErrorDomain)
        #expect(bridged.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(error?.underlying is NSError)
    }

    @Test("an error of a block's own comes as it is") func ownError() async {
        let manager = manager()
        await #expect(throws: CocoaError.self) {
            try await manager.read { _ in throw CocoaError(.fileReadUnknown) }
        }
        await #expect(throws: CocoaError.self) {
            try await manager.write { _ in throw CocoaError(.fileReadUnknown) }
        }
    }
}
