import CoreData

/// Folders in folders: broad, and one below the other.
let treeKinds = [
    Kind("trees: three below each, made, moved and deleted by the root") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                var all: [Folder] = []
                for number in 0..<trial.size {
                    let folder = Folder(context: context)
                    if number > 0 { folder.parent = all[(number - 1) / 3] }
                    all.append(folder)
                }
                try context.save()
                for number in stride(from: 4, to: all.count, by: 2) { all[number].parent = all[number - 1] }
                try context.save()
                context.delete(all[0])
                try context.save()
            }
            trial.expect(try context.count(for: Notes.request(Folder.self)) == 0)
        }
    },
    Kind("trees: a chain of folders, made and saved") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            try trial.measure {
                var last: Folder?
                for number in 0..<trial.size {
                    let folder = Folder(context: context)
                    folder.position = Int64(number)
                    folder.parent = last
                    last = folder
                }
                try context.save()
            }
        }
    },
    Kind("trees: a chain walked up, faults") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            var last: Folder?
            for _ in 0..<trial.size {
                let folder = Folder(context: context)
                folder.parent = last
                last = folder
            }
            try context.save()
            guard let identifier = last?.objectID else { return }
            context.reset()
            trial.measure {
                var depth = 0
                var folder = context.object(with: identifier) as? Folder
                while let next = folder {
                    depth += 1
                    folder = next.parent
                }
                trial.expect(depth == trial.size)
            }
        }
    },
    Kind("trees: a chain deleted by its root") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            var last: Folder?
            for _ in 0..<trial.size {
                let folder = Folder(context: context)
                folder.parent = last
                last = folder
            }
            try context.save()
            context.reset()
            let root = try context.fetch(Notes.request(Folder.self, NSPredicate(format: "parent == nil")))
            try trial.measure {
                for folder in root { context.delete(folder) }
                try context.save()
            }
            trial.expect(try context.count(for: Notes.request(Folder.self)) == 0)
        }
    },
    Kind("trees: a chain deleted by a batch request") { trial in
        let notes = try Notes(trial.folder)
        let context = notes.context()
        try context.performAndWait {
            var last: Folder?
            for _ in 0..<trial.size {
                let folder = Folder(context: context)
                folder.parent = last
                last = folder
            }
            try context.save()
            let root = NSFetchRequest<any NSFetchRequestResult>(entityName: "Folder")
            root.predicate = NSPredicate(format: "parent == nil")
            try trial.measure { try context.execute(NSBatchDeleteRequest(fetchRequest: root)) }
            trial.expect(try context.count(for: Notes.request(Folder.self)) == 0)
        }
    },
]
