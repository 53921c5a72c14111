import Foundation
import SwiftData
import Synchronization
import TestSupport
import Testing

/// A store in a file of JSON, as a program writes one: it keeps all snapshots, and leaves predicates and orders to the
/// context.
final class JSONStore: DataStore {
    typealias Configuration = JSONStoreConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: JSONStoreConfiguration
    let schema: Schema
    var identifier: String { configuration.url.lastPathComponent }

    init(_ configuration: JSONStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
    }

    func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let all = try read().values.sorted { $0.persistentIdentifier < $1.persistentIdentifier }
        let found = all.filter { $0.persistentIdentifier.entityName == Schema.entityName(for: T.self) }
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: found)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if configuration.refusesSaves { throw CocoaError(.fileWriteNoPermission) }
        var snapshots = try read()
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
                for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: UUID())
        }
        for snapshot in request.inserted + request.updated {
            let identifier = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            snapshots[identifier] = snapshot.copy(persistentIdentifier: identifier, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { snapshots[snapshot.persistentIdentifier] = nil }
        try JSONEncoder().encode(snapshots.values.map { $0 }).write(to: configuration.url)
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }

    func erase() throws { try FileManager.default.removeItem(at: configuration.url) }

    private func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard FileManager.default.fileExists(atPath: configuration.url.path) else { return [:] }
        let snapshots = try JSONDecoder().decode([DefaultSnapshot].self, from: Data(contentsOf: configuration.url))
        return Dictionary(uniqueKeysWithValues: snapshots.map { ($0.persistentIdentifier, $0) })
    }
}

struct JSONStoreConfiguration: DataStoreConfiguration {
    typealias Store = JSONStore

    var name = "JSON"
    var schema: Schema?
    var url: URL
    var refusesSaves = false
}

@Suite("A store of a program's own")
struct DataStoreTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func container(refusingSaves: Bool = false) throws -> ModelContainer {
        try ModelContainer(
            for: Book.self,
            configurations: JSONStoreConfiguration(url: folder.store, refusesSaves: refusingSaves))
    }

    private func titles(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).map(\.title)
    }

    @Test("keeps models with their values and relationships in a file of JSON, for the next run")
    func roundTrip() throws {
        let context = ModelContext(try container())
        let book = Book(isbn: "1", title: "Emma", author: Author(name: "Austen"))
        book.price = Decimal(string: "9.90")
        book.kind = .poem
        book.tags = ["b", "a"]
        book.size = Book.Size(width: 10, height: 20)
        context.insert(book)
        context.insert(Review(4, of: book))
        try context.save()
        #expect(book.persistentModelID.storeIdentifier == folder.store.lastPathComponent)
        let again = try #require(try ModelContext(container()).fetch(FetchDescriptor<Book>()).first)
        #expect((again.title, again.price, again.kind) == ("Emma", Decimal(string: "9.90"), .poem))
        #expect((again.tags, again.size, again.year) == (["b", "a"], book.size, 1800))
        #expect(again.author?.name == "Austen")
        #expect(again.author?.books == [again])
        #expect(again.reviews.map(\.stars) == [4])
        #expect(again.persistentModelID == book.persistentModelID)
    }

    @Test("is asked again without a predicate or an order where it prefers that")
    func inMemory() throws {
        let container = try container()
        let context = ModelContext(container)
        for title in ["b10", "a", "b9", "c"] { context.insert(Book(isbn: title, title: title)) }
        try context.save()
        #expect(try titles(container) == ["a", "b9", "b10", "c"])
        var descriptor = FetchDescriptor<Book>(
            predicate: #Predicate { $0.title.starts(with: "b") }, sortBy: [SortDescriptor(\.title)])
        #expect(try ModelContext(container).fetch(descriptor).map(\.title) == ["b9", "b10"])
        #expect(try context.fetchCount(descriptor) == 2)
        descriptor.fetchLimit = 1
        #expect(try context.fetch(descriptor).map(\.title) == ["b9"])
    }

    @Test("shows unsaved changes in a fetch, unless they are left out")
    func pending() throws {
        let context = ModelContext(try container())
        let (emma, poems) = (Book(isbn: "1", title: "Emma"), Book(isbn: "2", title: "Poems"))
        context.insert(emma)
        context.insert(poems)
        try context.save()
        emma.title = "Nothing"
        context.delete(poems)
        context.insert(Book(isbn: "3", title: "New"))
        var descriptor = FetchDescriptor<Book>(
            predicate: #Predicate { $0.title.starts(with: "N") }, sortBy: [SortDescriptor(\.title)])
        #expect(try context.fetch(descriptor).map(\.title) == ["New", "Nothing"])
        descriptor.includePendingChanges = false
        descriptor.predicate = nil
        #expect(try context.fetchCount(descriptor) == 2)
    }

    @Test("takes changed and deleted models, and other contexts show them")
    func changes() throws {
        let container = try container()
        let context = ModelContext(container)
        let (emma, poems) = (Book(isbn: "1", title: "Emma"), Book(isbn: "2", title: "Poems"))
        context.insert(emma)
        context.insert(poems)
        try context.save()
        let other = ModelContext(container)
        let seen = try other.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.isbn)]))
        #expect(seen.map(\.title) == ["Emma", "Poems"])
        emma.title = "Persuasion"
        context.delete(poems)
        try context.save()
        #expect(try other.fetch(FetchDescriptor<Book>()).map(\.title) == ["Persuasion"])
        #expect(seen[0].title == "Persuasion")
        #expect(seen[1].isDeleted)
        #expect(try titles(self.container()) == ["Persuasion"])
    }

    @Test("keeps nothing of a save that it refuses, and the context keeps its changes")
    func refused() throws {
        let context = ModelContext(try container(refusingSaves: true))
        context.insert(Book(isbn: "1", title: "Emma"))
        #expect(throws: (any Error).self) { try context.save() }
        #expect(context.hasChanges)
        #expect(try titles(container()) == [])
    }

    @Test("is emptied with its container")
    func erased() throws {
        let container = try container()
        let context = ModelContext(container)
        let book = Book(isbn: "1", title: "Emma")
        context.insert(book)
        try context.save()
        try container.erase()
        #expect(try context.fetch(FetchDescriptor<Book>()).isEmpty)
        #expect(book.title == "Emma")
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    }

    @Test("says that it lacks batches and a history")
    func unsupported() throws {
        let context = ModelContext(try container())
        #expect(throws: DataStoreError.unsupportedFeature) { try context.delete(model: Book.self) }
        #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
    }
}

/// A store that notes of which classes the values are that it gets, and keeps none.
private final class NotingStore: DataStore {
    struct Configuration: DataStoreConfiguration {
        typealias Store = NotingStore
        var name = "noting"
        var schema: Schema?
    }

    struct Snapshot: DataStoreSnapshot {
        static let classes = Mutex<[String]>([])
        let values: DefaultSnapshot
        var persistentIdentifier: PersistentIdentifier { values.persistentIdentifier }

        init(from: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
            func name<Data: BackingData>(_ data: Data) -> String { "\(Data.Model.self)" }
            let name = name(from)
            Self.classes.withLock { $0.append(name) }
            values = DefaultSnapshot(from: from, relatedBackingDatas: &relatedBackingDatas)
        }

        init(from decoder: any Decoder) throws { values = try DefaultSnapshot(from: decoder) }

        private init(_ values: DefaultSnapshot) { self.values = values }

        func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

        func copy(
            persistentIdentifier: PersistentIdentifier,
            remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
        ) -> Self {
            Self(values.copy(persistentIdentifier: persistentIdentifier, remappedIdentifiers: remappedIdentifiers))
        }
    }

    let configuration: Configuration
    let schema: Schema
    let identifier = "noting"

    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
    }

    func fetch<T>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot> {
        DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [])
    }

    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot> {
        let remapped = try request.inserted.map { snapshot in
            let entity = snapshot.persistentIdentifier.entityName
            return (
                snapshot.persistentIdentifier,
                try PersistentIdentifier.identifier(for: identifier, entityName: entity, primaryKey: UUID())
            )
        }
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: Dictionary(uniqueKeysWithValues: remapped))
    }
}

@Suite("A snapshot")
struct SnapshotTests {
    @Test("gets the values of a model as those of its own class, also of one that inherits")
    func ownClass() throws {
        let container = try ModelContainer(
            for: Trip.self, BusinessTrip.self, configurations: NotingStore.Configuration())
        let context = ModelContext(container)
        context.insert(BusinessTrip(name: "there", perdiem: 1))
        try context.save()
        #expect(NotingStore.Snapshot.classes.withLock { $0 } == ["BusinessTrip"])
    }
}

@Suite("SwiftData's own store by itself")
struct DefaultStoreTests {
    @Test("saves snapshots and fetches them, with permanent identifiers")
    func snapshots() throws {
        let schema = Schema([Book.self])
        let store = try DefaultStore(ModelConfiguration(schema: schema, isStoredInMemoryOnly: true))
        let library = try Library()
        let book = Book(isbn: "1", title: "Emma", author: Author(name: "Austen"))
        library.context.insert(book)
        var related: [PersistentIdentifier: any BackingData] = [:]
        func snapshot<T: PersistentModel>(_ model: T) -> DefaultSnapshot {
            DefaultSnapshot(from: model.persistentBackingData, relatedBackingDatas: &related)
        }
        let editingState = library.context.editingState
        let author = try #require(book.author)
        // A request is made by a context; this one goes through a store's own snapshots.
        let saved = try JSONEncoder().encode([snapshot(book), snapshot(author)])
        let decoded = try JSONDecoder().decode([DefaultSnapshot].self, from: saved)
        #expect(decoded.map(\.persistentIdentifier) == [book.persistentModelID, author.persistentModelID])
        #expect(store.identifier != "")
        #expect(try store.cachedSnapshots(for: [], editingState: editingState).isEmpty)
    }
}
