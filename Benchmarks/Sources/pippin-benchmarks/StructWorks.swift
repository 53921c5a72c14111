import Pippin

/// The same works with structs, against the same statements of the C API.
let structWorks = [
    Work(
        title: "save new structs", budget: 2.5, operations: { $0 },
        ours: { workspace, objects in
            let books = Sample.make(objects).map(Book.init)
            let store = try workspace.emptyBookStore()
            let manager = try Book.manager(store: store)
            return Trial(store: store, changesStore: true) {
                try manager.writeAndWait { try $0.save(books) }
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let samples = Sample.make(objects)
            let store = try workspace.emptyBookStore()
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: true) {
                try database.insert(samples)
                return Checksum()
            }
        }),
    Work(
        title: "fetch all structs, Codable", budget: 2, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let manager = try Book.manager(store: store)
            return Trial(store: store, changesStore: false) { try Book.readAll(manager) }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) { try database.fetchAll() }
        }),
    Work(
        title: "fetch all structs, decoded by hand", budget: 2, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let manager = try MappedBook.manager(store: store)
            return Trial(store: store, changesStore: false) { try MappedBook.readAll(manager) }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) { try database.fetchAll() }
        }),
    importWork,
    Work(
        title: "20,000 finds of structs by identifier, in one block", budget: 3, operations: { _ in lookups },
        ours: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let manager = try Book.manager(store: store)
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) { try Book.read(keys: keys, manager) }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let database = try Baseline(path: store)
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) { try database.fetch(keys: keys) }
        }),
    Work(
        title: "20,000 finds of structs by identifier, each by itself", budget: 3, operations: { _ in lookups },
        ours: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let manager = try Book.manager(store: store)
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) { try Book.readEach(keys: keys, manager) }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let database = try Baseline(path: store)
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) { try database.fetch(keys: keys) }
        }),
]
