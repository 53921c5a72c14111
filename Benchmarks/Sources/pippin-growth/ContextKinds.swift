import CoreData

/// Several contexts on one store: children, merges, conflicts, refreshing.
let contextKinds = [
    Kind("contexts: a child makes, saves to its parent, which saves") { trial in
        let notes = try Notes(trial.folder)
        let parent = notes.context()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        try trial.measure {
            try child.performAndWait {
                notes.make(trial.size, in: child)
                try child.save()
            }
            try parent.performAndWait { try parent.save() }
        }
    },
    Kind("contexts: a child changes what its parent has") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let parent = notes.context()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        try trial.measure {
            try child.performAndWait {
                for note in try child.fetch(Notes.request(Note.self)) { note.rating += 1 }
                try child.save()
            }
            try parent.performAndWait { try parent.save() }
        }
    },
    Kind("contexts: a small child of a large parent, many saves") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let parent = notes.context()
        let held = try parent.performAndWait { try parent.fetch(Notes.request(Note.self)) }
        let identifiers = parent.performAndWait { held.map(\.objectID) }
        try trial.measure(200) {
            for number in 0..<200 {
                let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                child.parent = parent
                try child.performAndWait {
                    (child.object(with: identifiers[number]) as? Note)?.rating += 1
                    try child.save()
                }
            }
        }
        withExtendedLifetime(held) {}
    },
    Kind("contexts: one changed and saved of many registered") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure(500) {
                for number in 0..<500 {
                    all[number].rating += 1
                    try context.save()
                }
            }
        }
    },
    Kind("contexts: one made and saved of many registered") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure(500) {
                for number in 0..<500 {
                    _ = notes.plain(trial.size + number, in: context)
                    try context.save()
                }
            }
            withExtendedLifetime(all) {}
        }
    },
    Kind("contexts: one deleted and saved of many registered") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure(500) {
                for number in 0..<500 {
                    context.delete(all[number])
                    try context.save()
                }
            }
        }
    },
    Kind("contexts: small saves merged by one with many objects") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let reader = notes.context()
        reader.automaticallyMergesChangesFromParent = true
        let held = try reader.performAndWait { try reader.fetch(Notes.request(Note.self)) }
        let writer = notes.context()
        try writer.performAndWait {
            let all = try writer.fetch(Notes.request(Note.self))
            try trial.measure(500) {
                for number in 0..<500 {
                    all[number].rating += 1
                    try writer.save()
                }
                reader.performAndWait {}
            }
        }
        withExtendedLifetime(held) {}
    },
    Kind("contexts: small deletions merged by one with many objects") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let reader = notes.context()
        reader.automaticallyMergesChangesFromParent = true
        let held = try reader.performAndWait { try reader.fetch(Notes.request(Note.self)) }
        let writer = notes.context()
        try writer.performAndWait {
            let all = try writer.fetch(Notes.request(Note.self))
            try trial.measure(200) {
                for number in 0..<200 {
                    writer.delete(all[number])
                    try writer.save()
                }
                reader.performAndWait {}
            }
        }
        withExtendedLifetime(held) {}
    },
    Kind("contexts: a large save merged by one that has all") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let reader = notes.context()
        reader.automaticallyMergesChangesFromParent = true
        let held = try reader.performAndWait { try reader.fetch(Notes.request(Note.self)) }
        let writer = notes.context()
        try writer.performAndWait {
            let all = try writer.fetch(Notes.request(Note.self))
            try trial.measure {
                for note in all { note.rating += 1 }
                try writer.save()
                reader.performAndWait { trial.expect(held[0].rating == all[0].rating) }
            }
        }
    },
    Kind("contexts: many contexts, each changes one thing") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let first = notes.context()
        let identifiers = try first.performAndWait { try first.fetch(Notes.request(Note.self)).map(\.objectID) }
        try trial.measure(500) {
            for number in 0..<500 {
                let context = notes.context()
                try context.performAndWait {
                    (try context.existingObject(with: identifiers[number]) as? Note)?.rating += 1
                    try context.save()
                }
            }
        }
    },
    Kind("contexts: conflicts of all objects, the store's values win") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let (one, other) = (notes.context(), notes.context())
        other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let all = try other.performAndWait { try other.fetch(Notes.request(Note.self)) }
        try one.performAndWait {
            for note in try one.fetch(Notes.request(Note.self)) { note.rating += 1 }
            try one.save()
        }
        try other.performAndWait {
            try trial.measure {
                for note in all { note.title = "other" }
                try other.save()
            }
        }
    },
    Kind("contexts: unique values met again, by a merge policy") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size { _ = notes.plain(number, in: context) }
                try context.save()
            }
            trial.expect(try context.count(for: Notes.request(Note.self)) == trial.size)
        }
    },
    Kind("contexts: refresh all, and read again") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure {
                context.refreshAllObjects()
                _ = try context.fetch(Notes.request(Note.self))
                for note in all { trial.expect(note.title != nil) }
            }
        }
    },
    Kind("contexts: refreshed objects read again, fault by fault") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            trial.measure {
                for note in all { context.refresh(note, mergeChanges: false) }
                for note in all { trial.expect(note.title != nil) }
            }
        }
    },
    Kind("contexts: work handed to the queue, thing by thing") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        let all = try context.performAndWait { try context.fetch(Notes.request(Note.self)) }
        trial.measure {
            for note in all { context.performAndWait { note.rating += 1 } }
            context.performAndWait { context.processPendingChanges() }
        }
    },
    Kind("contexts: portions of a hundred read, all refreshed after each") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self)
            let identifiers = try context.fetch(request).map(\.objectID)
            context.reset()
            try trial.measure {
                for start in stride(from: 0, to: identifiers.count, by: 100) {
                    request.predicate = NSPredicate(
                        format: "SELF IN %@", Array(identifiers[start..<min(start + 100, identifiers.count)]))
                    for note in try context.fetch(request) { trial.expect(note.title != nil) }
                    context.refreshAllObjects()
                }
            }
        }
    },
]
