import CoreData

/// To-one, to-many, ordered and many-to-many: filled, walked along, changed.
let relationshipKinds = [
    Kind("relationships: notes of each folder, faults") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let folders = try context.fetch(Notes.request(Folder.self))
            trial.measure {
                var count = 0
                for folder in folders { for note in folder.notes ?? [] { count += note.title == nil ? 0 : 1 } }
                trial.expect(count == trial.size)
            }
        }
    },
    Kind("relationships: notes of each folder, prefetched") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Folder.self)
            request.relationshipKeyPathsForPrefetching = ["notes"]
            try trial.measure {
                var count = 0
                for folder in try context.fetch(request) {
                    for note in folder.notes ?? [] { count += note.title == nil ? 0 : 1 }
                }
                trial.expect(count == trial.size)
            }
        }
    },
    Kind("relationships: tags of each note, prefetched") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self)
            request.relationshipKeyPathsForPrefetching = ["tags"]
            try trial.measure {
                var count = 0
                for note in try context.fetch(request) { count += note.tags?.count ?? 0 }
                trial.expect(count == 2 * trial.size)
            }
        }
    },
    Kind("relationships: folder of each note, prefetched") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self)
            request.relationshipKeyPathsForPrefetching = ["folder"]
            try trial.measure {
                for note in try context.fetch(request) { trial.expect(note.folder?.name != nil) }
            }
        }
    },
    Kind("relationships: one folder for all notes, and save") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure {
                let folder = Folder(context: context)
                for note in all { note.folder = folder }
                try context.save()
            }
        }
    },
    Kind("relationships: one member more for one large set, many saves") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            let folder = Folder(context: context)
            for number in 0..<trial.size { notes.plain(number, in: context).folder = folder }
            try context.save()
            try trial.measure(200) {
                for number in 0..<200 {
                    notes.plain(trial.size + number, in: context).folder = folder
                    try context.save()
                }
            }
        }
    },
    Kind("relationships: add and remove through the mutable set") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        context.performAndWait {
            let folder = Folder(context: context)
            let made = (0..<trial.size).map { notes.plain($0, in: context) }
            trial.measure {
                let members = folder.mutableSetValue(forKey: "notes")
                for note in made { members.add(note) }
                for note in made { members.remove(note) }
            }
            trial.expect(folder.notes?.isEmpty ?? true)
        }
    },
    Kind("relationships: a new tag on all notes, and save") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure {
                let tag = Tag(context: context)
                tag.name = "new"
                for note in all { note.mutableSetValue(forKey: "tags").add(tag) }
                try context.save()
            }
        }
    },
    Kind("relationships: all tags removed, and save") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            let all = try context.fetch(Notes.request(Note.self))
            try trial.measure {
                for note in all { note.tags = [] }
                try context.save()
            }
        }
    },
    Kind("relationships: delete all tags of many notes, and save") { trial in
        let notes = try Notes(trial.folder).filled(trial.size)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                for tag in try context.fetch(Notes.request(Tag.self)) { context.delete(tag) }
                try context.save()
            }
        }
    },
    Kind("ordered: make ten lines for each note, and save") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                notes.make(trial.size / 10, lines: 10, tagged: false, in: context)
                try context.save()
            }
        }
    },
    Kind("ordered: read ten lines of each note, prefetched") { trial in
        let notes = try Notes(trial.folder).filled(trial.size / 10, lines: 10)
        let context = notes.context()
        try context.performAndWait {
            let request = Notes.request(Note.self)
            request.relationshipKeyPathsForPrefetching = ["lines"]
            try trial.measure {
                var count = 0
                for note in try context.fetch(request) {
                    for case let line as Line in note.lines ?? [] { count += line.text == nil ? 0 : 1 }
                }
                trial.expect(count == trial.size / 10 * 10)
            }
        }
    },
    Kind("ordered: append to one long list") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            let note = notes.plain(0, in: context)
            try trial.measure {
                let lines = note.mutableOrderedSetValue(forKey: "lines")
                for _ in 0..<trial.size { lines.add(Line(context: context)) }
                try context.save()
            }
        }
    },
    // Those behind are moved along, in memory and in the store, as in any array.
    Kind("ordered: move the last to the front, many saves", allowance: 14) { trial in
        let notes = try Notes(trial.folder).filled(1, lines: trial.size)
        let context = notes.context()
        try context.performAndWait {
            let note = try context.fetch(Notes.request(Note.self))[0]
            try trial.measure(20) {
                for _ in 0..<20 {
                    let lines = note.mutableOrderedSetValue(forKey: "lines")
                    lines.moveObjects(at: IndexSet(integer: lines.count - 1), to: 0)
                    try context.save()
                }
            }
        }
    },
    Kind("ordered: swap neighbours all along") { trial in
        let notes = try Notes(trial.folder).filled(1, lines: trial.size)
        let context = notes.context()
        try context.performAndWait {
            let note = try context.fetch(Notes.request(Note.self))[0]
            try trial.measure {
                let lines = note.mutableOrderedSetValue(forKey: "lines")
                for index in stride(from: 0, to: lines.count - 1, by: 2) {
                    lines.exchangeObject(at: index, withObjectAt: index + 1)
                }
                try context.save()
            }
        }
    },
    Kind("ordered: every second line removed at once") { trial in
        let notes = try Notes(trial.folder).filled(1, lines: trial.size)
        let context = notes.context()
        try context.performAndWait {
            let note = try context.fetch(Notes.request(Note.self))[0]
            try trial.measure {
                let lines = note.mutableOrderedSetValue(forKey: "lines")
                lines.removeObjects(at: IndexSet(stride(from: 0, to: lines.count, by: 2)))
                try context.save()
            }
        }
    },
]
