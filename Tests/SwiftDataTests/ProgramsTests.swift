import Foundation
import Observation
import SwiftData
import Testing

// Small programs of the kind that people write with SwiftData, as they would stand in an app.

private typealias PlannedTrip = Planner.Trip
private typealias PlannedLeg = Planner.Leg
private typealias Guest = Planner.Person

private func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number) * 86_400) }

private func planner(_ url: URL? = nil) throws -> ModelContainer {
    let configuration =
        url.map { ModelConfiguration(url: $0) } ?? ModelConfiguration(isStoredInMemoryOnly: true, allowsSave: true)
    return try ModelContainer(for: Planner.Trip.self, Planner.Person.self, configurations: configuration)
}

/// What apps write once for all their models.
private struct Repository<Model: PersistentModel> {
    let context: ModelContext

    func all(_ order: SortDescriptor<Model>..., limit: Int? = nil) throws -> [Model] {
        var descriptor = FetchDescriptor<Model>(sortBy: order)
        descriptor.fetchLimit = limit
        return try context.fetch(descriptor)
    }

    func first(where predicate: Predicate<Model>) throws -> Model? {
        var descriptor = FetchDescriptor(predicate: predicate)
        descriptor.fetchLimit = 1
        return try context.fetch(descriptor).first
    }

    func count(_ predicate: Predicate<Model>? = nil) throws -> Int {
        try context.fetchCount(FetchDescriptor(predicate: predicate))
    }

    func sorted<Value: Comparable>(by keyPath: any KeyPath<Model, Value> & Sendable) throws -> [Model] {
        try context.fetch(FetchDescriptor<Model>(sortBy: [SortDescriptor(keyPath, order: .reverse)]))
    }

    @discardableResult
    func insert(_ model: Model) throws -> PersistentIdentifier {
        context.insert(model)
        try context.save()
        return model.persistentModelID
    }

    func deleteAll() throws {
        try context.delete(model: Model.self)
        try context.save()
    }
}

/// A view model as it stands behind a view.
@MainActor @Observable
private final class TripList {
    private(set) var trips: [PlannedTrip] = []
    var search = "" { didSet { reload() } }
    private let context: ModelContext

    init(context: ModelContext) { self.context = context }

    func reload() {
        let search = search
        let descriptor = FetchDescriptor<PlannedTrip>(
            predicate: #Predicate { search.isEmpty || $0.name.localizedStandardContains(search) },
            sortBy: [SortDescriptor(\.start, order: .reverse), SortDescriptor(\.name)])
        trips = (try? context.fetch(descriptor)) ?? []
    }

    func add(_ name: String, _ start: Date) {
        context.insert(PlannedTrip(name: name, start: start))
        reload()
    }

    func delete(at offsets: IndexSet) {
        for index in offsets { context.delete(trips[index]) }
        try? context.save()
        reload()
    }
}

/// An importer in the background, which is handed identifiers.
@ModelActor
private actor TripImporter {
    func add(_ names: [String]) throws -> [PersistentIdentifier] {
        let trips = names.enumerated().map { PlannedTrip(name: $1, start: day($0)) }
        for trip in trips { modelContext.insert(trip) }
        try modelContext.save()
        return trips.map(\.persistentModelID)
    }

    func book(_ id: PersistentIdentifier) throws {
        guard let trip = self[id, as: PlannedTrip.self] else { return }
        trip.status = .booked
        trip.legs.append(PlannedLeg(title: "first", order: 1))
        try modelContext.save()
    }

    func names(_ status: Planner.Status) throws -> [String] {
        try modelContext.fetch(FetchDescriptor<PlannedTrip>(predicate: #Predicate { $0.status == status })).map(\.name)
    }
}

@Suite("A program of the usual kind")
struct ProgramsTests {
    @Test("keeps values of all kinds, and fetches them with another container")
    func values() throws {
        let folder = try TemporaryFolder()
        let id = UUID()
        do {
            let context = ModelContext(try planner(folder.url.appendingPathComponent("trips.store")))
            let trip = PlannedTrip(name: "Alps", start: day(1), end: day(3))
            trip.id = id
            trip.status = .booked
            trip.transport = .train(number: "EC 7", seat: nil)
            trip.place = Planner.Coordinate(latitude: 46.5, longitude: 8)
            trip.stops = [Planner.Stop(id: id, name: "Bern"), Planner.Stop(id: id, name: "Brig", place: trip.place)]
            trip.notes = ["hut": "booked", "key": "none"]
            trip.tags = ["snow", "huts"]
            trip.budget = Decimal(string: "120.55")!
            trip.link = URL(string: "https://example.org/alps?x=1")
            trip.picture = Data(repeating: 7, count: 300_000)
            trip.isSelected = true
            context.insert(trip)
            #expect(trip.isSelected)
            try context.save()
        }
        let context = ModelContext(try planner(folder.url.appendingPathComponent("trips.store")))
        let trip = try #require(try context.fetch(FetchDescriptor<PlannedTrip>()).first)
        #expect(trip.id == id && trip.status == .booked && trip.duration == 2 * 86_400)
        #expect(trip.transport == .train(number: "EC 7", seat: nil))
        #expect(trip.stops.map(\.place) == [nil, Planner.Coordinate(latitude: 46.5, longitude: 8)])
        #expect(trip.notes == ["hut": "booked", "key": "none"] && trip.tags == ["snow", "huts"])
        #expect(trip.budget == Decimal(string: "120.55") && trip.link?.query() == "x=1")
        #expect(trip.picture?.count == 300_000)
        #expect(!trip.isSelected)
        trip.transport = .flight("LX 1")
        trip.stops[0].name = "Basel"
        trip.notes["hut"] = nil
        trip.place?.latitude = 47
        try context.save()
        let other = try #require(try ModelContext(context.container).fetch(FetchDescriptor<PlannedTrip>()).first)
        #expect(other.transport == .flight("LX 1") && other.stops.map(\.name) == ["Basel", "Brig"])
        #expect(other.notes == ["key": "none"] && other.place?.latitude == 47)
    }

    @Test("has a repository for any model, with sort orders by key paths and comparators")
    func repository() throws {
        let context = ModelContext(try planner())
        let people = Repository<Guest>(context: context)
        for (number, name) in ["bob", "Ann", "Åsa", "Zoe 10", "Zoe 9"].enumerated() {
            try people.insert(Guest(email: "\(number)@example.org", name: name))
        }
        #expect(try people.all(SortDescriptor(\.name)).map(\.name) == ["Ann", "Åsa", "bob", "Zoe 9", "Zoe 10"])
        #expect(
            try people.all(SortDescriptor(\.name, comparator: .lexical)).map(\.name)
                == ["Ann", "Zoe 10", "Zoe 9", "bob", "Åsa"])
        #expect(try people.all(SortDescriptor(\.email, order: .reverse), limit: 2).map(\.name) == ["Zoe 9", "Zoe 10"])
        #expect(try people.sorted(by: \Guest.email).first?.name == "Zoe 9")
        #expect(try people.first(where: #Predicate { $0.name.starts(with: "Zoe") })?.name.hasPrefix("Zoe") == true)
        #expect(try people.count(#Predicate { $0.email.contains("example") }) == 5)
        let known = try #require(try people.all(SortDescriptor(\.email)).first)
        let ids = [known.persistentModelID]
        #expect(try people.first(where: #Predicate { ids.contains($0.persistentModelID) }) === known)
        try people.deleteAll()
        #expect(try people.count() == 0)
    }

    @Test("asks about optional values, enumerations, and related models")
    func predicates() throws {
        let context = ModelContext(try planner())
        let ann = Guest(email: "ann@example.org", name: "Ann")
        for number in 0..<6 {
            let trip = PlannedTrip(
                name: "Trip \(number)", start: day(number), end: number % 2 == 0 ? day(number + 3) : nil)
            trip.status = Planner.Status.allCases[number % 3]
            trip.legs = (0..<number).map { PlannedLeg(title: "leg \($0)", order: $0) }
            trip.legs.first?.isDone = true
            trip.travellers = number > 3 ? [ann] : nil
            context.insert(trip)
        }
        try context.save()
        let trips = Repository<PlannedTrip>(context: context)
        let (now, booked, email) = (day(4), Planner.Status.booked, "ann@example.org")
        let far = Date.distantFuture
        #expect(try trips.count(#Predicate { $0.end == nil }) == 3)
        #expect(try trips.count(#Predicate { ($0.end ?? far) > now }) == 5)
        #expect(try trips.count(#Predicate { $0.status == booked }) == 2)
        #expect(try trips.count(#Predicate { $0.status.rawValue == "done" }) == 2)
        #expect(try trips.count(#Predicate { $0.start >= now && !$0.legs.isEmpty }) == 2)
        #expect(try trips.count(#Predicate { $0.legs.contains { leg in leg.isDone && leg.order == 0 } }) == 5)
        #expect(try trips.count(#Predicate { $0.legs.filter { leg in !leg.isDone }.count > 2 }) == 2)
        #expect(try trips.count(#Predicate { $0.travellers?.contains { $0.email == email } == true }) == 2)
        #expect(try trips.count(#Predicate { if let end = $0.end { end > now } else { false } }) == 2)
        let legs = Repository<PlannedLeg>(context: context)
        #expect(try legs.count(#Predicate { $0.trip?.name == "Trip 5" }) == 5)
        #expect(try legs.count(#Predicate { $0.trip?.status == booked }) == 1 + 4)
        let last = try #require(try trips.all(SortDescriptor(\.start)).last)
        let id = last.persistentModelID
        #expect(try legs.count(#Predicate { $0.trip?.persistentModelID == id }) == 5)
        #expect(
            try legs.all(SortDescriptor(\.trip?.name, order: .reverse), SortDescriptor(\.order)).first?.trip === last)
    }

    @Test("fetches a part of the properties, with related models, in pages, and without what is not saved")
    func descriptors() throws {
        let context = ModelContext(try planner())
        for number in 0..<10 {
            let trip = PlannedTrip(name: "Trip \(number)", start: day(number))
            trip.legs = [PlannedLeg(title: "leg", order: number)]
            context.insert(trip)
        }
        try context.save()
        context.insert(PlannedTrip(name: "unsaved", start: day(99)))
        var descriptor = FetchDescriptor<PlannedTrip>(sortBy: [SortDescriptor(\.start)])
        descriptor.propertiesToFetch = [\.name, \.start]
        descriptor.relationshipKeyPathsForPrefetching = [\.legs]
        descriptor.includePendingChanges = false
        descriptor.fetchOffset = 4
        descriptor.fetchLimit = 3
        let page = try context.fetch(descriptor)
        #expect(page.map(\.name) == ["Trip 4", "Trip 5", "Trip 6"])
        #expect(page.map(\.legs.first?.order) == [4, 5, 6])
        #expect(page.map(\.status) == [.idea, .idea, .idea])
        #expect(try context.fetchCount(FetchDescriptor<PlannedTrip>()) == 11)
        #expect(try context.fetchIdentifiers(descriptor).count == 3)
        var sum = 0
        try context.save()
        try context.enumerate(FetchDescriptor<PlannedLeg>(), batchSize: 3) { sum += $0.order }
        #expect(sum == 45)
        let batches = try context.fetch(FetchDescriptor<PlannedTrip>(sortBy: [SortDescriptor(\.name)]), batchSize: 4)
        #expect(batches.count == 11 && batches[10].name == "unsaved")
    }

    @Test("updates by unique values, and deletes what belongs to what is deleted")
    func uniqueAndRules() throws {
        let container = try planner()
        let context = ModelContext(container)
        let ann = Guest(email: "ann@example.org", name: "Ann")
        let trip = PlannedTrip(name: "Alps", start: day(1))
        trip.legs = [PlannedLeg(title: "up", order: 1), PlannedLeg(title: "down", order: 2)]
        trip.travellers = [ann]
        context.insert(trip)
        try context.save()
        context.insert(Guest(email: "ann@example.org", name: "Anna"))
        let again = PlannedTrip(name: "Alps", start: day(1), end: day(5))
        again.status = .done
        context.insert(again)
        context.insert(PlannedTrip(name: "Alps", start: day(2)))
        try context.save()
        let fresh = ModelContext(container)
        #expect(try fresh.fetch(FetchDescriptor<Guest>()).map(\.name) == ["Anna"])
        #expect(
            try fresh.fetch(FetchDescriptor<PlannedTrip>(sortBy: [SortDescriptor(\.start)])).map(\.end) == [
                day(5), nil,
            ])
        let first = try #require(
            try fresh.fetch(FetchDescriptor<PlannedTrip>(predicate: #Predicate { $0.end != nil })).first)
        fresh.delete(first)
        try fresh.save()
        #expect(try fresh.fetchCount(FetchDescriptor<PlannedTrip>()) == 1)
        #expect(try fresh.fetchCount(FetchDescriptor<Guest>()) == 1)
        let start = day(0)
        try fresh.delete(model: PlannedTrip.self, where: #Predicate { $0.start > start })
        try fresh.save()
        #expect(try fresh.fetchCount(FetchDescriptor<PlannedTrip>()) == 0)
    }

    @Test("has a view model that searches, adds and deletes")
    @MainActor
    func viewModel() throws {
        let container = try planner()
        let list = TripList(context: container.mainContext)
        for (number, name) in ["Alps", "Lapland", "Ålesund"].enumerated() { list.add(name, day(number)) }
        #expect(list.trips.map(\.name) == ["Ålesund", "Lapland", "Alps"])
        list.search = "al"
        #expect(list.trips.map(\.name) == ["Ålesund", "Alps"])
        list.search = ""
        list.delete(at: [0, 2])
        #expect(list.trips.map(\.name) == ["Lapland"])
        #expect(!container.mainContext.hasChanges)
    }

    @Test("imports with an actor, and shows it in the main context")
    @MainActor
    func importer() async throws {
        let container = try planner()
        let importer = TripImporter(modelContainer: container)
        let ids = try await importer.add(["one", "two", "three"])
        try await importer.book(ids[1])
        #expect(try await importer.names(.booked) == ["two"])
        let trip = try #require(container.mainContext.model(for: ids[1]) as? PlannedTrip)
        #expect(trip.name == "two" && trip.legs.map(\.title) == ["first"])
        let found: PlannedTrip? = container.mainContext.registeredModel(for: ids[1])
        #expect(found === trip)
    }

    @Test("rolls back, takes back, and hears of saves")
    func transactions() throws {
        let container = try planner()
        let context = ModelContext(container)
        context.undoManager = UndoManager()
        context.autosaveEnabled = false
        try context.transaction {
            context.insert(PlannedTrip(name: "Alps", start: day(1)))
            context.insert(PlannedTrip(name: "Lapland", start: day(2)))
        }
        #expect(!context.hasChanges)
        let saved = Heap<[AnyHashable: Any]>([:])
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { saved.value = $0.userInfo ?? [:] }
        defer { NotificationCenter.default.removeObserver(observer) }
        let trip = try #require(
            try context.fetch(FetchDescriptor<PlannedTrip>(sortBy: [SortDescriptor(\.start)])).first)
        context.processPendingChanges()
        context.undoManager?.removeAllActions()
        trip.name = "Andes"
        context.processPendingChanges()
        #expect(context.changedModelsArray.map(\.persistentModelID) == [trip.persistentModelID])
        context.undoManager?.undo()
        #expect(trip.name == "Alps")
        context.undoManager?.redo()
        #expect(trip.name == "Andes")
        context.rollback()
        #expect(trip.name == "Alps" && !context.hasChanges)
        trip.name = "Andes"
        context.insert(PlannedTrip(name: "new", start: day(3)))
        #expect(context.insertedModelsArray.count == 1)
        try context.save()
        let updated = saved.value[ModelContext.NotificationKey.updatedIdentifiers.rawValue] as? [PersistentIdentifier]
        #expect(updated == [trip.persistentModelID])
        let inserted = saved.value[ModelContext.NotificationKey.insertedIdentifiers.rawValue] as? [PersistentIdentifier]
        #expect(inserted?.count == 1)
    }

    @Test("configures its container in the usual ways")
    func configurations() throws {
        let folder = try TemporaryFolder()
        let schema = Schema([PlannedTrip.self, Guest.self, PlannedLeg.self], version: Schema.Version(1, 2, 0))
        let named = ModelConfiguration(
            "Trips", schema: schema, url: folder.url.appendingPathComponent("a.store"), cloudKitDatabase: .none)
        let container = try ModelContainer(for: schema, configurations: [named])
        #expect(container.configurations.first?.name == "Trips")
        #expect(container.schema.entities.map(\.name).sorted() == ["Leg", "Person", "Trip"])
        let context = ModelContext(container)
        context.insert(PlannedTrip(name: "Alps", start: day(1)))
        try context.save()
        let readOnly = try ModelContainer(
            for: schema, configurations: ModelConfiguration(schema: schema, url: named.url, allowsSave: false))
        let reader = ModelContext(readOnly)
        #expect(try reader.fetchCount(FetchDescriptor<PlannedTrip>()) == 1)
        reader.insert(PlannedTrip(name: "no", start: day(2)))
        #expect(throws: (any Error).self) { try reader.save() }
        try container.erase()
        #expect(try context.fetchCount(FetchDescriptor<PlannedTrip>()) == 0)
        let memory = try ModelContainer(
            for: schema, configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true))
        #expect(try ModelContext(memory).fetchCount(FetchDescriptor<PlannedTrip>()) == 0)
    }

    @Test("gives one object for a model that its initializer has related to others")
    func identity() throws {
        let context = ModelContext(try planner())
        let trip = PlannedTrip(name: "Alps", start: day(1))
        context.insert(trip)
        let leg = PlannedLeg(title: "up", order: 1)
        leg.trip = trip
        #expect(trip.legs.first === leg)
        #expect(leg.trip === trip)
        #expect(Set([leg, trip.legs[0]]).count == 1)
    }
}

private final class Heap<Value>: @unchecked Sendable {
    // @unchecked Sendable: one thread of the test uses it.
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// A folder that is gone after the test.
private final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("programs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
