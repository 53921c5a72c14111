import TestSupport
import Testing

@testable import Pippin
import CoreData

// Four versions of one model.
private enum V1 {
    struct Person: CoreModel {
        let id: String
        var first: String
        var last: String
        var age: String
        var town: Town?
    }
    struct Town: CoreModel {
        let id: Int
        var name: String
    }
}
private enum V2 {
    struct Person: CoreModel {
        let id: String
        var givenName: String
        var last: String
        var age: String
        var town: Town?
        static var schema: Schema<Person> { Schema(.renamed(\.givenName, from: "first")) }
    }
    struct Town: CoreModel {
        let id: Int
        var name: String
        var country: String?
    }
}
private enum V3 {
    struct Person: CoreModel, Equatable {
        let id: String
        var fullName: String
        var age: Int
        var town: Town?
    }
    struct Town: CoreModel, Equatable {
        let id: Int
        var name: String
        var country: String?
    }
}

@Suite("Migration plans")
struct MigrationPlanTests {
    private let folder: TestFolder
    private var file: URL { folder.file("people.sqlite") }
    private let first = ModelVersion("1", models: V1.Person.self)
    private let second = ModelVersion("2", models: V2.Person.self)
    private let third = ModelVersion("3", models: V3.Person.self)
    private var manager: PersistenceManager { PersistenceManager(models: V3.Person.self, store: .file(file)) }

    private var plan: MigrationPlan {
        MigrationPlan(from: first).inferred(to: second).changing(
            to: third,
            .model(V2.Person.self, to: V3.Person.self) { old in
                V3.Person(id: old.id, fullName: "\(old.givenName) \(old.last)", age: Int(old.age) ?? 0)
            })
    }

    init() throws { folder = try TestFolder() }

    /// A store of the first version, which stays open, so that what it wrote is in its log.
    private func store(age: String = "36") async throws -> PersistenceManager {
        let old = PersistenceManager(models: V1.Person.self, store: .file(file))
        try await old.load()
        let town = V1.Town(id: 7, name: "London")
        try await old.save([V1.Person(id: "ada", first: "Ada", last: "Lovelace", age: age, town: town)])
        return old
    }

    private func tables() throws -> [String] {
        try plainSQL("SELECT sql FROM sqlite_master WHERE name = 'ZPERSON'", in: file)
    }

    @Test("go over all versions, with relationships, and with what is in the log only")
    func chain() async throws {
        let old = try await store()
        let manager = manager
        let progress = Progress(totalUnitCount: -1)
        try await manager.load(migratingBy: plan, progress: progress)
        #expect(
            try await manager.fetch(V3.Person.self)
                == [V3.Person(id: "ada", fullName: "Ada Lovelace", age: 36, town: V3.Town(id: 7, name: "London"))])
        #expect(progress.totalUnitCount == 200)
        #expect(progress.isFinished)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { $0.hasPrefix("people") })
        _ = old
    }

    @Test("begin at the version that a store has, and leave a store of the last one alone")
    func later() async throws {
        let middle = PersistenceManager(models: V2.Person.self, store: .file(file))
        try await middle.load()
        try await middle.save(V2.Person(id: "b", givenName: "Blaise", last: "Pascal", age: "39"))
        try await manager.load(migratingBy: plan)
        let again = manager
        try await again.load(migratingBy: plan)
        #expect(try await again.fetch(V3.Person.self).map(\.fullName) == ["Blaise Pascal"])
    }

    @Test("make a new store where there is none yet")
    func new() async throws {
        let manager = manager
        try await manager.load(migratingBy: plan)
        #expect(try await manager.count(V3.Person.self) == 0)
    }

    @Test("leave the store as it was where a closure throws, and say at which model")
    func failing() async throws {
        struct NoNumber: LocalizedError { var errorDescription: String? { "No number." } }
        _ = try await store(age: "old")
        let before = try tables()
        let plan = MigrationPlan(from: first).inferred(to: second).changing(
            to: third,
            .record("Person") { old, new in
                guard let age = Int(old.value(forKey: "age") as? String ?? "") else { throw NoNumber() }
                new.setValue(age, forKey: "age")
                new.setValue("", forKey: "fullName")
            })
        await #expect(
            throws: PersistenceError.failedAt(
                entity: "Person", record: "ada", from: "2", to: "3", reason: "No number.")
        ) { try await manager.load(migratingBy: plan) }
        #expect(try tables() == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { $0.hasPrefix("people") })
        try await manager.load(migratingBy: self.plan)
    }

    @Test("leave the store as it was when they are cancelled")
    func cancelled() async throws {
        _ = try await store()
        let before = try tables()
        let progress = Progress(totalUnitCount: -1)
        let plan = MigrationPlan(from: first).inferred(to: second).changing(
            to: third,
            .record("Person") { _, new in
                new.setValue("", forKey: "fullName")
                new.setValue(1, forKey: "age")
                progress.cancel()
            })
        await #expect(throws: CancellationError.self) { try await manager.load(migratingBy: plan, progress: progress) }
        #expect(try tables() == before)
    }

    @Test("are checked whole before anything is touched")
    func checks() throws {
        let inferred = MigrationPlan(from: first).inferred(to: second).inferred(to: third)
        #expect {
            try manager.loadAndWait(migratingBy: inferred)
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .notInferable else { return false }
            return error.entity == "Person" && error.property == "age" && error.description.contains("'2' to '3'")
                && error.description.contains("changing(to:_:)")
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(throws: PersistenceError.notTheManagersModel(last: "2", manager: "Models")) {
            try manager.loadAndWait(migratingBy: MigrationPlan(from: first).inferred(to: second))
        }
        #expect(throws: PersistenceError.repeatedVersion("1")) {
            try manager.loadAndWait(migratingBy: MigrationPlan(from: first).inferred(to: first))
        }
        #expect(throws: PersistenceError.unknownEntity("Persons", version: "2", known: ["Person", "Town"])) {
            try manager.loadAndWait(
                migratingBy: MigrationPlan(from: second).changing(to: third, .record("Persons") { _, _ in }))
        }
    }

    @Test("name the types that they remove with their rows, unless a schema names these", arguments: [false, true])
    func removedTypes(isPermitted: Bool) async throws {
        enum Alone {
            struct Person: CoreModel { let id: String; var givenName: String; var last: String; var age: String }
        }
        enum Permitted {
            struct Person: CoreModel {
                let id: String
                var givenName: String
                var last: String
                var age: String
                static var schema: Schema<Person> { Schema(.removed(entity: "Town")) }
            }
        }
        await (try await store()).close()
        let start = MigrationPlan(from: first).inferred(to: second)
        guard !isPermitted else {
            let manager = PersistenceManager(models: Permitted.Person.self, store: .file(file))
            let last = ModelVersion("3", models: Permitted.Person.self)
            try await manager.load(migratingBy: start.inferred(to: last))
            #expect(try await manager.count(Permitted.Person.self) == 1)
            return
        }
        let before = try tables()
        let manager = PersistenceManager(models: Alone.Person.self, store: .file(file))
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.load(migratingBy: start.inferred(to: ModelVersion("3", models: Alone.Person.self)))
        }
        #expect(error?.code == .wouldLose)
        #expect(error?.losses.map(\.entity) == ["Town"] && error?.losses.first?.rows == 1)
        #expect(error?.description.contains("Town, 1 row: Version '1' has it, and version '3' has not.") == true)
        #expect(try tables() == before)
    }

    @Test("refuse a store of a version that they do not have")
    func unknown() async throws {
        _ = try await store()
        #expect(throws: PersistenceError.unknownStoreVersion(store: "people.sqlite", known: ["3"])) {
            try manager.loadAndWait(migratingBy: MigrationPlan(from: third))
        }
    }

    /// A model with a large value, which lies beside the store.
    private func pictures(_ others: String...) -> NSManagedObjectModel {
        let attributes = (["picture"] + others).map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .binaryDataAttributeType
            attribute.allowsExternalBinaryDataStorage = true
            attribute.isOptional = true
            return attribute
        }
        let entity = NSEntityDescription()
        entity.name = "Picture"
        entity.properties = attributes
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @Test("take values along that lie beside the store", arguments: [true, false])
    func externalData(byObject: Bool) async throws {
        let content = Data(repeating: 7, count: 300_000)
        let old = PersistenceManager(model: pictures(), name: "Pictures", store: .file(file))
        try await old.load()
        let context = old.newWorkerContext()
        try context.performAndWait {
            let picture = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
            picture.setValue(content, forKey: "picture")
            try context.save()
        }
        let first = MigrationPlan(from: ModelVersion("1", model: pictures()))
        let second = ModelVersion("2", model: pictures("thumbnail"))
        let plan =
            byObject
            ? first.changing(to: second, .record("Picture") { _, new in new.setValue(Data([1]), forKey: "thumbnail") })
            : first.inferred(to: second)
        let manager = PersistenceManager(model: pictures("thumbnail"), name: "Pictures", store: .file(file))
        try manager.loadAndWait(migratingBy: plan)
        let later = manager.newWorkerContext()
        let found = try later.performAndWait {
            try later.fetch(NSFetchRequest<NSManagedObject>(entityName: "Picture")).first?.value(forKey: "picture")
        }
        #expect(found as? Data == content)
        let files = try FileManager.default.contentsOfDirectory(
            atPath: folder.file(".people_SUPPORT/_EXTERNAL_DATA").path)
        #expect(files.count == 1)
    }

    @Test("follow mapping models between versions")
    func mapped() async throws {
        _ = try await store()
        let (one, two) = (try first.model(), try second.model())
        nonisolated(unsafe) let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: one, destinationModel: two)
        let manager = PersistenceManager(models: V2.Person.self, store: .file(file))
        try await manager.load(migratingBy: MigrationPlan(from: first).mapped(to: second) { mapping })
        #expect(try await manager.fetch(V2.Person.self).map(\.givenName) == ["Ada"])
    }

    @Test("leave a mapping model as it is, which may be that of other stores, too")
    func mappedTwice() async throws {
        struct Note: CoreModel {
            let id: String
            var text: String
        }
        let shared = folder.file("shared.sqlite")
        let older = PersistenceManager(models: V1.Person.self, Note.self, store: .file(shared))
        try await older.load()
        try await older.save([Note(id: "a", text: "Hello")])
        _ = try await store()
        nonisolated(unsafe) let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: try first.model(), destinationModel: try second.model())
        let names = mapping.entityMappings.map(\.name)
        let plan = MigrationPlan(from: first).mapped(to: second) { mapping }
        let sharing = PersistenceManager(models: V2.Person.self, Note.self, store: .file(shared))
        try await PersistenceManager(models: V2.Person.self, store: .file(shared)).load(migratingBy: plan)
        try await sharing.load()
        #expect(try await sharing.fetch(Note.self).map(\.text) == ["Hello"])
        #expect(mapping.entityMappings.map(\.name) == names)
        let manager = PersistenceManager(models: V2.Person.self, store: .file(file))
        try await manager.load(migratingBy: plan)
        #expect(try await manager.fetch(V2.Person.self).map(\.givenName) == ["Ada"])
    }
}

@Suite("Structs that changed")
struct ChangedStructTests {
    private enum Wider {
        struct Coin: CoreModel {
            let id: String
            var worth: Double
            var country: String
            static var schema: Schema<Coin> { Schema(.defaultValue(\.country, "?")) }
        }
    }
    private enum Stricter {
        struct Coin: CoreModel {
            let id: String
            var worth: Double
            var country: String
        }
    }
    private enum Plain {
        struct Coin: CoreModel {
            let id: String
            var worth: Double
        }
    }

    private let folder: TestFolder
    private var file: StoreLocation { .file(folder.file("coins.sqlite")) }

    init() async throws {
        folder = try TestFolder()
        let manager = PersistenceManager(models: Plain.Coin.self, store: file)
        try manager.loadAndWait()
        try await manager.save(Plain.Coin(id: "EUR", worth: 1))
    }

    @Test("migrate by inference where that is possible")
    func inferred() async throws {
        let manager = PersistenceManager(models: Wider.Coin.self, store: file)
        try manager.loadAndWait()
        #expect(try await manager.fetch(Wider.Coin.self).map(\.country) == ["?"])
    }

    @Test("say what they need where nothing can be inferred")
    func refused() throws {
        let manager = PersistenceManager(models: Stricter.Coin.self, store: file)
        #expect {
            try manager.loadAndWait()
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .schemaChanged else { return false }
            return error.entity == "Coin" && error.property == "country"
                && error.localizedDescription.contains(".defaultValue")
        }
    }
}

@Suite("A property that is split")
struct DerivedPropertyTests {
    private enum Former {
        struct Errand: CoreModel {
            let id: Int
            var assignee: String
            var priority: Int?
        }
    }
    private enum Present {
        struct Errand: CoreModel, Equatable {
            let id: Int
            var firstName: String
            var lastName: String?
            var isUrgent: Bool
            static var schema: Schema<Errand> {
                Schema(
                    .derived(\.firstName, from: "assignee") { (name: String) in String(name.prefix { $0 != " " }) },
                    .derived(\.lastName, from: "assignee") { (name: String) in
                        name.contains(" ") ? String(name.drop { $0 != " " }.dropFirst()) : nil
                    },
                    .derived(\.isUrgent, from: "priority") { (priority: Int?) in priority ?? 0 > 5 })
            }
        }
    }
    private enum Refusing {
        struct NoName: LocalizedError { var errorDescription: String? { "There is no name." } }
        struct Errand: CoreModel {
            let id: Int
            var name: String
            static var schema: Schema<Errand> {
                Schema(
                    .derived(\.name, from: "assignee") { (name: String) in
                        if name == "Ada" { throw NoName() }
                        return name
                    }, .removed("priority"))
            }
        }
    }
    private enum Undeclared {
        struct Errand: CoreModel {
            let id: Int
            var firstName: String
            var priority: Int?
        }
    }

    private let place: StorePlace

    init() async throws {
        place = try StorePlace()
        let manager = try place.loaded([Former.Errand.self])
        try await manager.save([
            Former.Errand(id: 1, assignee: "Jane Austen", priority: 9), Former.Errand(id: 2, assignee: "Ada"),
        ])
        await manager.close()
    }

    @Test("becomes several, by closures of the schema, when the store is opened, and once")
    func split() async throws {
        let expected = [
            Present.Errand(id: 1, firstName: "Jane", lastName: "Austen", isUrgent: true),
            Present.Errand(id: 2, firstName: "Ada", lastName: nil, isUrgent: false),
        ]
        let manager = try place.loaded([Present.Errand.self])
        #expect(try await manager.fetch(Present.Errand.self, sortedBy: \.id) == expected)
        try await manager.update(Present.Errand.self, where: \.id == 2) { $0.set(\.firstName, to: "Augusta") }
        await manager.close()
        let again = try place.loaded([Present.Errand.self])
        #expect(try await again.fetch(Present.Errand.self, sortedBy: \.id).map(\.firstName) == ["Jane", "Augusta"])
    }

    @Test("stays as it was where a closure throws, and the error has its reason")
    func refused() async throws {
        let error = #expect(throws: PersistenceError.self) { try place.loaded([Refusing.Errand.self]) }
        #expect(error?.code == .migrationFailed && error?.description.contains("There is no name.") == true)
        let names = try await place.loaded([Former.Errand.self]).fetch(Former.Errand.self, sortedBy: \.id).map(
            \.assignee)
        #expect(names == ["Jane Austen", "Ada"])
    }

    @Test("is a loss, and the new one lacks values, where no rule says so")
    func undeclared() throws {
        let error = #expect(throws: PersistenceError.self) { try place.loaded([Undeclared.Errand.self]) }
        #expect(error?.code == .wouldLose && error?.losses.map(\.property) == ["assignee", "firstName"])
    }
}
