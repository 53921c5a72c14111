import Pippin

/// The same works with structs, against the same statements of the C API.
let structWorks = [
    saveWork("save new structs, @CoreModel", budget: 1.25, Book.self),
    saveWork("save new structs, Codable", budget: 1.6, CodedBook.self),
    fetchWork("fetch all structs, @CoreModel", budget: 1.1, Book.self),
    fetchWork("fetch all structs, Codable", budget: 1.4, CodedBook.self),
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
    valuesWork,
    importWork("import of nested values, ten in each parent, @CoreModel", Poet.self),
    importWork("import of nested values, ten in each parent, Codable", CodedPoet.self),
    findWork("20,000 finds of structs by identifier, in one block, @CoreModel", Book.self) {
        try $0.read(keys: $1, $2)
    },
    findWork("20,000 finds of structs by identifier, in one block, Codable", CodedBook.self) {
        try $0.read(keys: $1, $2)
    },
    findWork("20,000 finds of structs by identifier, each by itself, @CoreModel", Book.self) {
        try $0.readEach(keys: $1, $2)
    },
    findWork("20,000 finds of structs by identifier, each by itself, Codable", CodedBook.self) {
        try $0.readEach(keys: $1, $2)
    },
]

private func saveWork<Model: BookModel>(_ title: String, budget: Double, _ type: Model.Type) -> Work {
    Work(
        title: title, budget: budget, operations: { $0 },
        ours: { workspace, objects in
            let books = Sample.make(objects).map(Model.init)
            let store = try workspace.emptyBookStore()
            let manager = try Model.manager(store: store)
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
        })
}

private func fetchWork<Model: BookModel>(_ title: String, budget: Double, _ type: Model.Type) -> Work {
    Work(
        title: title, budget: budget, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let manager = try Model.manager(store: store)
            return Trial(store: store, changesStore: false) { try Model.readAll(manager) }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) { try database.fetchAll() }
        })
}

private func findWork<Model: BookModel>(
    _ title: String, _ type: Model.Type,
    _ find: @escaping @Sendable (Model.Type, [String], PersistenceManager) throws -> Checksum
) -> Work {
    Work(
        title: title, budget: 1.3, operations: { _ in lookups },
        ours: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let manager = try Model.manager(store: store)
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) { try find(type, keys, manager) }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledBookStore(objects)
            let database = try Baseline(path: store)
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) { try database.fetch(keys: keys) }
        })
}
