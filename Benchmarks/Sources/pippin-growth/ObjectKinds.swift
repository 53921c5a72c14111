import CoreData

/// Objects one by one: made, read, changed, deleted, validated, taken back.
let objectKinds = [
    Kind("objects: make and save") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size { _ = notes.plain(number, in: context) }
                try context.save()
            }
        }
    },
    Kind("objects: make with folder and tags, and save") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                notes.make(trial.size, in: context)
                try context.save()
            }
        }
    },
    Kind("objects: make by key-value coding and save") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size {
                    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                    note.setValue("note \(number)", forKey: "uid")
                    note.setValue("a title", forKey: "title")
                    note.setValue(number, forKey: "rating")
                }
                try context.save()
            }
        }
    },
    Kind("objects: make with a kilobyte of data and save") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size {
                    notes.plain(number, in: context).photo = Data(repeating: UInt8(number % 256), count: 1000)
                }
                try context.save()
            }
        }
    },
    Kind("objects: make with a transformable value and save") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size {
                    notes.plain(number, in: context).marks = ["a", "b", NSNumber(value: number)] as NSArray
                }
                try context.save()
            }
        }
    },
    Kind("objects: fetch and read transformable values") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            for number in 0..<trial.size { notes.plain(number, in: context).marks = ["a", "b"] as NSArray }
            try context.save()
            context.reset()
            try trial.measure {
                for note in try context.fetch(Notes.request(Note.self)) { trial.expect(note.marks != nil) }
            }
        }
    },
    Kind("objects: fetch and read everything") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                var sum = 0
                for note in try context.fetch(Notes.request(Note.self)) {
                    sum += Int(note.rating) + (note.title?.utf8.count ?? 0) + (note.body?.utf8.count ?? 0)
                    sum += note.createdAt == nil ? 0 : 1
                }
                trial.expect(sum > 0)
            }
        }
    },
    Kind("objects: read by key-value coding") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            trial.measure {
                for note in all {
                    trial.expect(note.value(forKey: "title") is String && note.value(forKey: "rating") is Int)
                }
            }
        }
    },
    Kind("objects: read along a key path of two steps") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            trial.measure { for note in all { trial.expect(note.value(forKeyPath: "folder.name") is String) } }
        }
    },
    Kind("objects: change one attribute of all and save") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure {
                for note in all { note.rating += 1 }
                try context.save()
            }
        }
    },
    Kind("objects: change, and take back by rollback") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            trial.measure {
                for note in all { note.rating += 1 }
                context.rollback()
            }
            trial.expect(!context.hasChanges)
        }
    },
    Kind("objects: change, undo and redo") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        context.performAndWait { context.undoManager = UndoManager() }
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            trial.measure {
                for note in all { note.rating += 1 }
                context.processPendingChanges()
                context.undo()
                context.redo()
            }
            trial.expect(context.hasChanges)
        }
    },
    Kind("objects: undo of many small steps") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        context.performAndWait { context.undoManager = UndoManager() }
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            trial.measure {
                for note in all {
                    context.undoManager?.beginUndoGrouping()
                    note.rating += 1
                    context.processPendingChanges()
                    context.undoManager?.endUndoGrouping()
                }
                for _ in all { context.undo() }
            }
            trial.expect(all[0].rating == 0)
        }
    },
    Kind("objects: validate for update") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure { for note in all { try note.validateForUpdate() } }
        }
    },
    Kind("objects: changed and committed values") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            for note in all { note.rating += 1 }
            trial.measure {
                for note in all {
                    trial.expect(note.changedValues().count == 1)
                    trial.expect(note.committedValues(forKeys: ["rating"]).count == 1)
                }
            }
        }
    },
    Kind("objects: delete all and save") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure {
                for note in all { context.delete(note) }
                try context.save()
            }
        }
    },
    Kind("objects: delete folders with their notes and save") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for folder in try context.fetch(Notes.request(Folder.self)) { context.delete(folder) }
                try context.save()
            }
            trial.expect(try context.count(for: Notes.request(Note.self)) == 0)
        }
    },
    Kind("objects: delete those just made, in turns") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size {
                    let note = notes.plain(number, in: context)
                    if number % 2 == 0 { context.delete(note) }
                }
                try context.save()
            }
        }
    },
    Kind("objects: by identifier, one by one") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
            request.resultType = .managedObjectIDResultType
            let identifiers = try context.fetch(request)
            try trial.measure {
                for identifier in identifiers { trial.expect(try context.existingObject(with: identifier) is Note) }
            }
        }
    },
    Kind("objects: identifiers to addresses and back") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            let coordinator = notes.container.persistentStoreCoordinator
            trial.measure {
                for note in all {
                    let address = note.objectID.uriRepresentation()
                    trial.expect(coordinator.managedObjectID(forURIRepresentation: address) == note.objectID)
                }
            }
        }
    },
    Kind("objects: make, obtain permanent identifiers, and save") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                let made = (0..<trial.size).map { notes.plain($0, in: context) }
                try context.obtainPermanentIDs(for: made)
                try context.save()
            }
        }
    },
    Kind("objects: observe a property of each, and change it") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            var heard = 0
            try trial.measure {
                let observations = all.map { note in note.observe(\.rating) { _, _ in heard += 1 } }
                for note in all { note.rating += 1 }
                withExtendedLifetime(observations) {}
                try context.save()
            }
            trial.expect(heard >= trial.size)
        }
    },
]
