import CoreData

/// Fetched results controllers and notifications.
let resultsKinds = [
    Kind("results: fetched in sections") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                let results = controller(context, section: "folder.name")
                try results.performFetch()
                trial.expect(results.sections?.count == (trial.size + 19) / 20)
            }
        }
    },
    Kind("results: one changed after the other, told to a delegate") { trial in
        try follow(trial, section: nil) { all, _, _, number in all[number].title = "Title \((number * 7) % 1000)" }
    },
    Kind("results: one moved to another section after the other") { trial in
        try follow(trial, section: "rating") { all, _, _, number in all[number].rating = (all[number].rating + 1) % 10 }
    },
    Kind("results: one made after the other, told to a delegate") { trial in
        try follow(trial, section: "rating") { _, notes, context, number in
            _ = notes.plain(100_000 + number, in: context)
        }
    },
    Kind("results: one deleted after the other, told to a delegate") { trial in
        try follow(trial, section: "rating") { all, _, context, number in context.delete(all[number]) }
    },
    Kind("results: all changed at once, told to a delegate") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let results = controller(context, section: "rating")
            let listener = Listener()
            results.delegate = listener
            try results.performFetch()
            trial.measure {
                for note in results.fetchedObjects ?? [] { note.rating = (note.rating + 1) % 10 }
                context.processPendingChanges()
            }
            trial.expect(listener.changes >= trial.size)
        }
    },
    Kind("results: as many made in a thousand sections, told to a delegate") { trial in
        let notes = try Notes(trial.folder).filled(trial.size / 2)
        let context = notes.context()
        try context.performAndWait {
            let results = controller(context, section: "title")
            let listener = Listener()
            results.delegate = listener
            try results.performFetch()
            trial.measure(trial.size / 2) {
                for number in trial.size / 2..<trial.size { _ = notes.plain(number, in: context) }
                context.processPendingChanges()
            }
            trial.expect(listener.changes == trial.size / 2)
        }
    },
    Kind("results: sections asked for again for each of them") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let results = controller(context, section: "uid")
            try results.performFetch()
            trial.measure {
                for section in 0..<trial.size { trial.expect(results.sections?[section].numberOfObjects == 1) }
            }
        }
    },
    Kind("results: index paths of all") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let results = controller(context, section: "folder.name")
            try results.performFetch()
            trial.measure {
                for note in results.fetchedObjects ?? [] {
                    guard let path = results.indexPath(forObject: note) else { continue }
                    trial.expect(results.object(at: path) === note)
                }
            }
        }
    },
]

private func controller(_ context: NSManagedObjectContext, section: String?) -> NSFetchedResultsController<Note> {
    let request = Notes.request(Note.self)
    request.sortDescriptors =
        (section.map { [NSSortDescriptor(key: $0, ascending: true)] } ?? [])
        + [NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "uid", ascending: true)]
    return NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
}

/// Two hundred changes, each processed by itself, beside a list of all notes.
private func follow(
    _ trial: Trial, section: String?,
    _ change: ([Note], Notes, NSManagedObjectContext, Int) -> Void
) throws {
    let notes = try Notes(trial.folder).filled(trial.size)
    let context = notes.context()
    try context.performAndWait {
        let results = controller(context, section: section)
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        let all = results.fetchedObjects ?? []
        trial.measure(200) {
            for number in 0..<200 {
                change(all, notes, context, number)
                context.processPendingChanges()
            }
        }
        trial.expect(listener.changes >= 150)
    }
}

private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        changes += 1
    }
}
