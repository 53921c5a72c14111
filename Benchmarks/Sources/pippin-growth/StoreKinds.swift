import CoreData

/// Stores as files: other types, history, migration, copies.
let storeKinds =
    [(NSXMLStoreType, "XML"), (NSBinaryStoreType, "binary"), (NSInMemoryStoreType, "memory")].flatMap { type, name in
        [
            Kind("stores: \(name), make and save") { trial in
                let notes = try Notes(trial.folder, type: type, model: modelWithoutDerivedAttributes)
                let context = notes.context()
                try context.performAndWait {
                    try trial.measure {
                        notes.make(trial.size, in: context)
                        try context.save()
                    }
                }
            },
            Kind("stores: \(name), open and fetch") { trial in
                if type != NSInMemoryStoreType {
                    _ = try Notes(trial.folder, type: type, model: modelWithoutDerivedAttributes).filled(trial.size)
                }
                try trial.measure {
                    var notes = try Notes(trial.folder, type: type, model: modelWithoutDerivedAttributes)
                    if type == NSInMemoryStoreType { notes = try notes.filled(trial.size) }
                    let context = notes.context()
                    try context.performAndWait {
                        let request = Notes.request(Note.self, NSPredicate(format: "rating > 4"))
                        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                        trial.expect(try context.fetch(request).count == trial.size / 2)
                    }
                }
            },
            // XML and binary stores look at each object, as Apple's do. The context that filled the store goes
            // meanwhile.
            Kind("stores: \(name), by unique key", allowance: type == NSInMemoryStoreType ? 3 : 14) { trial in
                let times = type == NSInMemoryStoreType ? 2_000 : 20
                let notes = try Notes(trial.folder, type: type, model: modelWithoutDerivedAttributes).filled(trial.size)
                let context = notes.context()
                try context.performAndWait {
                    try trial.measure(times) {
                        for number in 0..<times {
                            let request = Notes.request(Note.self, NSPredicate(format: "uid == %@", "note \(number)"))
                            trial.expect(try context.fetch(request).count == 1)
                        }
                    }
                }
            },
        ]
    } + [
        Kind("stores: open one of that size, and close", allowance: 1.8) { trial in
            _ = try Notes(trial.folder).filled(trial.size)
            try trial.measure(20) {
                for _ in 0..<20 {
                    let notes = try Notes(trial.folder)
                    let coordinator = notes.container.persistentStoreCoordinator
                    for store in coordinator.persistentStores { try coordinator.remove(store) }
                }
            }
        },
        Kind("history: make and save with history") { trial in
            let notes = try Notes(trial.folder, history: true)
            let context = notes.context()
            try context.performAndWait {
                try trial.measure {
                    notes.make(trial.size, in: context)
                    try context.save()
                }
            }
        },
        Kind("history: fetched after many small saves") { trial in
            let notes = try Notes(trial.folder, history: true)
            let context = notes.context()
            try context.performAndWait {
                for number in 0..<trial.size / 10 {
                    _ = notes.plain(number, in: context)
                    try context.save()
                }
                try trial.measure(trial.size / 10) {
                    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                    let result = try context.execute(request) as? NSPersistentHistoryResult
                    let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
                    trial.expect(transactions.reduce(0) { $0 + ($1.changes?.count ?? 0) } == trial.size / 10)
                }
            }
        },
        Kind("history: read fifty transactions at a time") { trial in
            let notes = try Notes(trial.folder, history: true)
            let context = notes.context()
            try context.performAndWait {
                for number in 0..<trial.size / 10 {
                    _ = notes.plain(number, in: context)
                    try context.save()
                }
                try trial.measure(trial.size / 10) {
                    var (token, count): (NSPersistentHistoryToken?, Int) = (nil, 0)
                    while true {
                        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
                        request.fetchRequest?.fetchLimit = 50
                        let result = try context.execute(request) as? NSPersistentHistoryResult
                        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
                        guard let last = transactions.last else { break }
                        (token, count) = (last.token, count + transactions.count)
                    }
                    trial.expect(count == trial.size / 10)
                }
            }
        },
        Kind("history: one small save after a long one") { trial in
            let notes = try Notes(trial.folder, history: true).filled(trial.size)
            let context = notes.context()
            try context.performAndWait {
                try trial.measure(200) {
                    for number in 0..<200 {
                        _ = notes.plain(trial.size + number, in: context)
                        try context.save()
                    }
                }
            }
        },
        Kind("history: transactions merged into a context") { trial in
            let notes = try Notes(trial.folder, history: true).filled(trial.size)
            let context = notes.context()
            try context.performAndWait {
                let all = try context.fetch(Notes.request(Note.self))
                let other = notes.context()
                try other.performAndWait {
                    for note in try other.fetch(Notes.request(Note.self)) { note.rating += 1 }
                    try other.save()
                }
                try trial.measure {
                    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                    let result = try context.execute(request) as? NSPersistentHistoryResult
                    for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                        context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                    }
                    for note in all { trial.expect(note.title != nil) }
                }
            }
        },
        Kind("migration: lightweight, one attribute more") { trial in
            do {
                let notes = try Notes(trial.folder).filled(trial.size)
                let coordinator = notes.container.persistentStoreCoordinator
                for store in coordinator.persistentStores { try coordinator.remove(store) }
            }
            try trial.measure { _ = try Notes(trial.folder, model: plainModel(version: 2)) }
        },
        Kind("migration: into a store of another type") { trial in
            let notes = try Notes(trial.folder, model: modelWithoutDerivedAttributes).filled(trial.size)
            let coordinator = notes.container.persistentStoreCoordinator
            try trial.measure {
                _ = try coordinator.migratePersistentStore(
                    coordinator.persistentStores[0], to: trial.folder.appendingPathComponent("copy.xml"), type: .xml)
            }
        },
        Kind("migration: a copy of notes with two lines each") { trial in
            let notes = try Notes(trial.folder).filled(trial.size / 2, lines: 2)
            let coordinator = notes.container.persistentStoreCoordinator
            try trial.measure {
                _ = try coordinator.migratePersistentStore(
                    coordinator.persistentStores[0], to: trial.folder.appendingPathComponent("copy"), type: .sqlite)
            }
        },
    ]

/// What stores other than SQLite's take.
private let modelWithoutDerivedAttributes: NSManagedObjectModel = {
    let model = NotesModel.make()
    for entity in model.entities { entity.properties.removeAll { $0 is NSDerivedAttributeDescription } }
    return model
}()

/// A model of plain managed objects: a class belongs to one model's entity.
private func plainModel(version: Int) -> NSManagedObjectModel {
    let model = NotesModel.make(version: version)
    for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
    return model
}
