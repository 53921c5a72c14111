import CoreData

/// A store of notes, and contexts on it.
struct Notes {
    let container: NSPersistentContainer
    var url: URL { container.persistentStoreCoordinator.persistentStores[0].url! }

    init(
        _ folder: URL, type: String = NSSQLiteStoreType, model: NSManagedObjectModel = NotesModel.model,
        history: Bool = false
    ) throws {
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Notes"))
        description.type = type
        if history { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    /// A context of a private queue, whose work is done at once.
    func context() -> NSManagedObjectContext { container.newBackgroundContext() }

    /// Fills the store with so many notes, in folders of twenty, each with two of fifty tags.
    func filled(_ count: Int, lines: Int = 0) throws -> Notes {
        let context = context()
        try context.performAndWait {
            _ = make(count, lines: lines, in: context)
            try context.save()
        }
        return self
    }

    @discardableResult
    func make(_ count: Int, lines: Int = 0, tagged: Bool = true, in context: NSManagedObjectContext) -> [Note] {
        let tags = (0..<(tagged ? 50 : 0)).map { number in
            let tag = Tag(context: context)
            tag.name = "tag \(number)"
            return tag
        }
        var folder: Folder?
        return (0..<count).map { number in
            if number % 20 == 0 {
                folder = Folder(context: context)
                folder?.name = "folder \(number)"
                folder?.position = Int64(number)
            }
            let note = plain(number, in: context)
            note.folder = folder
            if tagged { note.tags = [tags[number % 50], tags[(number + 7) % 50]] }
            if lines > 0 {
                note.lines = NSOrderedSet(
                    array: (0..<lines).map { position in
                        let line = Line(context: context)
                        line.text = "line \(position)"
                        return line
                    })
            }
            return note
        }
    }

    func plain(_ number: Int, in context: NSManagedObjectContext) -> Note {
        let note = Note(context: context)
        note.uid = "note \(number)"
        note.title = "Title \(number % 1000)"
        note.body = "What is written in note \(number)"
        note.rating = Int64(number % 10)
        note.price = NSDecimalNumber(value: number)
        note.createdAt = Date(timeIntervalSinceReferenceDate: Double(number))
        return note
    }

    static func request<T: NSManagedObject>(_ type: T.Type, _ predicate: NSPredicate? = nil) -> NSFetchRequest<T> {
        let request = NSFetchRequest<T>(entityName: "\(type)")
        request.predicate = predicate
        return request
    }
}
