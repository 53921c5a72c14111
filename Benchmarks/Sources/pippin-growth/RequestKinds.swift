import CoreData

/// Fetches of every result type and with every clause, and requests in sets.
let requestKinds = [
    Kind("requests: identifiers") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
            request.resultType = .managedObjectIDResultType
            try trial.measure { trial.expect(try context.fetch(request).count == trial.size) }
        }
    },
    Kind("requests: dictionaries of two columns") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "rating"]
            try trial.measure {
                for values in try context.fetch(request) { trial.expect(values["title"] is String) }
            }
        }
    },
    Kind("requests: dictionaries of two columns, as Swift's") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "rating"]
            try trial.measure {
                for values in try context.fetch(request) as? [[String: Any]] ?? [] {
                    trial.expect(values["title"] is String)
                }
            }
        }
    },
    Kind("requests: dictionaries of all columns") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            try trial.measure {
                for values in try context.fetch(request) { trial.expect(values["title"] is String) }
            }
        }
    },
    Kind("requests: groups with counts and sums") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            let count = NSExpressionDescription()
            count.name = "count"
            count.expression = NSExpression(format: "count:(uid)")
            count.expressionResultType = .integer64AttributeType
            request.propertiesToFetch = ["folder", count]
            request.propertiesToGroupBy = ["folder"]
            try trial.measure { trial.expect(try context.fetch(request).count == (trial.size + 19) / 20) }
        }
    },
    Kind("requests: notes by a tag's name") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self, NSPredicate(format: "ANY tags.name == 'tag 3'"))
            try trial.measure { trial.expect(try context.count(for: request) > 0) }
        }
    },
    Kind("requests: folders by a subquery on their notes") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let predicate = NSPredicate(
                format: "SUBQUERY(notes, $n, $n.rating > 5 AND $n.title CONTAINS '7').@count > 1")
            try trial.measure { _ = try context.fetch(Notes.request(Folder.self, predicate)) }
        }
    },
    Kind("requests: notes by text, case and diacritics ignored") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self, NSPredicate(format: "body CONTAINS[cd] 'NÓTE 77'"))
            try trial.measure { _ = try context.count(for: request) }
        }
    },
    Kind("requests: notes by regular expression") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self, NSPredicate(format: "body MATCHES '.*note [0-9]+7'"))
            try trial.measure { trial.expect(try context.count(for: request) > 0) }
        }
    },
    Kind("requests: sorted as people sort") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self)
            request.sortDescriptors = [
                NSSortDescriptor(key: "title", ascending: true, selector: "localizedStandardCompare:"),
                NSSortDescriptor(key: "createdAt", ascending: false),
            ]
            try trial.measure { trial.expect(try context.fetch(request).count == trial.size) }
        }
    },
    Kind("requests: one of as many keys") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let keys = (0..<trial.size).map { "note \($0)" }
            try trial.measure {
                let request = Notes.request(Note.self, NSPredicate(format: "uid IN %@", keys))
                trial.expect(try context.fetch(request).count == trial.size)
            }
        }
    },
    Kind("requests: one of as many objects") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure {
                let request = Notes.request(Note.self, NSPredicate(format: "SELF IN %@", all))
                trial.expect(try context.fetch(request).count == trial.size)
            }
        }
    },
    Kind("requests: notes whose folder is one of many objects") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let folders = try context.fetch(Notes.request(Folder.self))
            try trial.measure {
                let request = Notes.request(Note.self, NSPredicate(format: "folder IN %@", folders))
                trial.expect(try context.fetch(request).count == trial.size)
            }
        }
    },
    Kind("requests: by unique key, one by one") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size {
                    let request = Notes.request(Note.self, NSPredicate(format: "uid == %@", "note \(number)"))
                    trial.expect(try context.fetch(request).count == 1)
                }
            }
        }
    },
    Kind("requests: find or make, one by one") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size {
                    let request = Notes.request(Note.self, NSPredicate(format: "uid == %@", "note \(number / 2)"))
                    request.fetchLimit = 1
                    if let note = try context.fetch(request).first {
                        note.rating += 1
                    } else {
                        _ = notes.plain(number / 2, in: context)
                    }
                }
                try context.save()
            }
        }
    },
    Kind("requests: count beside unsaved changes, in turns") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for number in 0..<trial.size {
                    _ = notes.plain(number, in: context)
                    if number % 100 == 0 {
                        let request = Notes.request(Note.self, NSPredicate(format: "uid == %@", "note \(number)"))
                        trial.expect(try context.count(for: request) == 1)
                    }
                }
            }
        }
    },
    Kind("requests: in batches of a hundred, read through") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self)
            request.fetchBatchSize = 100
            request.sortDescriptors = [NSSortDescriptor(key: "createdAt", ascending: true)]
            try trial.measure {
                for note in try context.fetch(request) { trial.expect(note.title != nil) }
            }
        }
    },
    Kind("requests: batch insertion of dictionaries") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            let values = (0..<trial.size).map {
                ["uid": "note \($0)", "title": "a title", "rating": $0] as [String: Any]
            }
            try trial.measure { _ = try context.execute(NSBatchInsertRequest(entityName: "Note", objects: values)) }
        }
    },
    Kind("requests: batch update, identifiers merged into a context") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            let request = NSBatchUpdateRequest(entityName: "Note")
            request.propertiesToUpdate = ["rating": 5]
            request.resultType = .updatedObjectIDsResultType
            try trial.measure {
                let result = try context.execute(request) as? NSBatchUpdateResult
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSUpdatedObjectsKey: result?.result ?? []], into: [context])
                for note in all { trial.expect(note.rating == 5) }
            }
        }
    },
    Kind("requests: batch deletion, identifiers merged into a context") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Note"))
            request.resultType = .resultTypeObjectIDs
            try trial.measure {
                let result = try context.execute(request) as? NSBatchDeleteResult
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSDeletedObjectsKey: result?.result ?? []], into: [context])
            }
            trial.expect(all[0].managedObjectContext == nil || all[0].isDeleted)
        }
    },
]
