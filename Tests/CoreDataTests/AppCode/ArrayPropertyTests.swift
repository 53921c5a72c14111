@_spi(GeneratedCode) import CoreData
import Testing

private enum Keys {
    static let title = ManagedPropertyKey("title")
    static let songs = ManagedPropertyKey("songs")
}

private class ListedSong: NSManagedObject {
    var title: String? {
        get { managedValue(Keys.title) }
        set { setManagedValue(newValue, Keys.title) }
    }
}

private class SongList: NSManagedObject {
    var songs: [ListedSong] {
        get { managedValue(Keys.songs) }
        set { setManagedValue(newValue, Keys.songs) }
    }
}

private class LooseSongList: NSManagedObject {
    var songs: [ListedSong]? {
        get { managedValue(Keys.songs) }
        set { setManagedValue(newValue, Keys.songs) }
    }
}

// On Apple's platforms an ordered set answers what Swift asks of an array.
@Suite("An ordered relationship that is declared as an array (Amperfy)")
struct ArrayPropertyTests {
    private func container<List: NSManagedObject>(_ list: List.Type) throws -> NSPersistentContainer {
        let model = NSManagedObjectModel()
        let song = Library.entity("Song", [Library.attribute("title", .stringAttributeType)])
        let entity = Library.entity("List", [])
        Library.connect(entity, "songs", toMany: true, ordered: true, song, "list")
        entity.managedObjectClassName = String(reflecting: list)
        song.managedObjectClassName = String(reflecting: ListedSong.self)
        model.entities = [entity, song]
        return try Library.inMemory(model)
    }

    private func song(_ title: String, in context: NSManagedObjectContext) -> ListedSong {
        let song = ListedSong(context: context)
        song.title = title
        return song
    }

    @Test("has its members in their order, of new objects and of fetched ones")
    func order() throws {
        let container = try container(SongList.self)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let list = SongList(context: context)
            #expect(list.songs.isEmpty)
            let songs = list.mutableOrderedSetValue(forKey: "songs")
            for title in ["b", "a", "c"] { songs.add(song(title, in: context)) }
            #expect(list.songs.map(\.title) == ["b", "a", "c"])
            try context.save()
        }
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let list = try #require(try other.fetch(NSFetchRequest<SongList>(entityName: "List")).first)
            #expect(list.songs.map(\.title) == ["b", "a", "c"])
            list.mutableOrderedSetValue(forKey: "songs").removeObject(at: 0)
            #expect(list.songs.map(\.title) == ["a", "c"])
        }
    }

    @Test("may be declared optional")
    func optional() throws {
        let context = try container(LooseSongList.self).newBackgroundContext()
        context.performAndWait {
            let list = LooseSongList(context: context)
            #expect(list.songs == [])
            list.mutableOrderedSetValue(forKey: "songs").add(song("a", in: context))
            #expect(list.songs?.map(\.title) == ["a"])
        }
    }
}
