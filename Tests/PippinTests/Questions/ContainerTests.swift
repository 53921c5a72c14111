import PippinRecords
import Testing

private struct Stamp: CoreModel {
    let id: Int
    var worth: Int
    var country: Country?
}

private struct Country: CoreModel {
    let id: String
    var name: String
}

@Suite("The container of Core Data")
struct ContainerTests {
    private let manager = PersistenceManager(models: Stamp.self, Country.self, store: .memory)

    @Test("is not made for saves and questions, whatever these compute")
    func questions() async throws {
        let france = Country(id: "fr", name: "France")
        try await manager.save((0..<10).map { Stamp(id: $0, worth: $0 % 3, country: france) })
        #expect(try await manager.count(Stamp.self, where: \.country?.name == "France") == 10)
        #expect(try await manager.exists(Stamp.self, where: \.worth == 2))
        #expect(try await manager.exists(Stamp.self, id: 10) == false)
        #expect(try await manager.sum(Stamp.self, \.worth) == 9)
        #expect(try await manager.average(Stamp.self, \.worth) == 0.9)
        #expect(try await manager.max(Stamp.self, \.worth) == 2)
        #expect(try await manager.count(Stamp.self, by: \.worth) == [0: 4, 1: 3, 2: 3])
        #expect(try await manager.distinct(Stamp.self, \.worth) == [0, 1, 2])
        let both = try await manager.read { (try $0.count(Stamp.self), try $0.sum(Stamp.self, \.worth)) }
        #expect(both == (10, 9))
        try await manager.write { store in
            guard try store.count(Stamp.self) == 10 else { return }
            try store.save(Stamp(id: 10, worth: 5))
        }
        #expect(manager.session.face == nil)
    }

    @Test("shows the store that is open, and has a main context that merges what structs save")
    func container() async throws {
        try await manager.save(Stamp(id: 1, worth: 1))
        let context = manager.container.viewContext
        #expect(context === manager.mainContext)
        #expect(context.automaticallyMergesChangesFromParent)
        #expect(manager.container.persistentStoreCoordinator.persistentStores.count == 1)
        let stamps = try await context.perform {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Stamp"))
        }
        #expect(stamps == 1)
    }
}
