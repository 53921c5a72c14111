import Pippin
import TestSupport
import Testing

private struct Place: Codable, Equatable {
    struct Point: Codable, Equatable {
        var x: Double
        var y: Double
    }
    var town: String
    var note: String?
    var point: Point
}

private enum V1 {
    struct Site: CoreModel {
        let id: Int
        var place: Place?
    }
    struct Note: CoreModel {
        let id: Int
        var text = ""
    }
}

private enum V2 {
    struct Site: CoreModel {
        let id: Int
        var place: Place
        static var schema: Schema<Site> { Schema(.defaultValue(\.place, unknown)) }
    }
    struct Note: CoreModel {
        let id: Int
        var length: Int
    }
}

private let unknown = Place(town: "?", note: "to be asked", point: Place.Point(x: 0, y: 0))
private let bath = Place(town: "Bath", point: Place.Point(x: 51.4, y: -2.4))

@Suite("An optional nested struct that became required")
struct RequiredNestedTests {
    private let folder: TestFolder
    private var file: StoreLocation { .file(folder.file("sites.sqlite")) }

    init() async throws {
        folder = try TestFolder()
        let manager = PersistenceManager(models: V1.Site.self, store: file)
        try manager.loadAndWait()
        try await manager.save([V1.Site(id: 1, place: bath), V1.Site(id: 2)])
    }

    @Test("has its default value where it was nil, and no default within a value that was there")
    func defaults() async throws {
        let manager = PersistenceManager(models: V2.Site.self, store: file)
        try await manager.load()
        #expect(try await manager.fetch(V2.Site.self, sortedBy: .ascending(\.id)).map(\.place) == [bath, unknown])
    }

    /// A step with a closure migrates all models object by object.
    @Test("has its default value after a plan whose closure changes another model")
    func plan() async throws {
        let file = StoreLocation.file(folder.file("notes.sqlite"))
        let former = PersistenceManager(models: V1.Site.self, V1.Note.self, store: file)
        try former.loadAndWait()
        try await former.save([V1.Site(id: 1, place: bath), V1.Site(id: 2)])
        try await former.save(V1.Note(id: 1, text: "abc"))
        let manager = PersistenceManager(models: V2.Site.self, V2.Note.self, store: file)
        try await manager.load(
            migratingBy: MigrationPlan(from: ModelVersion("1", models: V1.Site.self, V1.Note.self)).changing(
                to: ModelVersion("2", models: V2.Site.self, V2.Note.self),
                .model(V1.Note.self, to: V2.Note.self) { V2.Note(id: $0.id, length: $0.text.count) }))
        #expect(try await manager.fetch(V2.Note.self).map(\.length) == [3])
        #expect(try await manager.fetch(V2.Site.self, sortedBy: .ascending(\.id)).map(\.place) == [bath, unknown])
    }

    @Test("stops the migration where it is nil and has no default value, and the store is as it was")
    func missing() async throws {
        enum New {
            struct Site: CoreModel {
                let id: Int
                var place: Place
            }
        }
        await #expect {
            try await PersistenceManager(models: New.Site.self, store: file).load()
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .schemaChanged else { return false }
            return error.entity == "Site" && error.localizedDescription.contains("place.")
                && error.localizedDescription.contains(".defaultValue")
        }
        let manager = PersistenceManager(models: V1.Site.self, store: file)
        try manager.loadAndWait()
        #expect(try await manager.fetch(V1.Site.self, sortedBy: .ascending(\.id)).map(\.place) == [bath, nil])
    }

    @Test("leaves no program that may save nil in it at the store")
    func older() async throws {
        let older = PersistenceManager(models: V1.Site.self, store: file)
        try older.loadAndWait()
        try await PersistenceManager(models: V2.Site.self, store: file).load()
        await #expect(throws: PersistenceError.self) { try await older.save(V1.Site(id: 3)) }
        let manager = PersistenceManager(models: V2.Site.self, store: file)
        try await manager.load()
        #expect(try await manager.fetch(V2.Site.self).count == 2)
    }
}

@Suite("A required nested struct that became optional")
struct OptionalNestedTests {
    @Test("keeps its values, and may be nil")
    func widened() async throws {
        let folder = try TestFolder()
        let file = StoreLocation.file(folder.file("sites.sqlite"))
        let former = PersistenceManager(models: V2.Site.self, store: file)
        try former.loadAndWait()
        try await former.save(V2.Site(id: 1, place: bath))
        let manager = PersistenceManager(models: V1.Site.self, store: file)
        try manager.loadAndWait()
        try await manager.save(V1.Site(id: 2))
        #expect(try await manager.fetch(V1.Site.self, sortedBy: .ascending(\.id)).map(\.place) == [bath, nil])
    }

    private enum Loose {
        struct Part: Codable, Equatable {
            var note: String?
        }
        struct Whole: Codable, Equatable {
            var note: String?
            var part = Part()
        }
        struct Wide: Codable, Equatable {
            var note: String?
            var part: Part?
        }
        struct Site: CoreModel {
            let id: Int
            var whole = Whole()
        }
        struct Note: CoreModel {
            let id: Int
            var text = ""
        }
    }

    private enum Looser {
        struct Site: CoreModel {
            let id: Int
            var whole: Loose.Wide?
        }
        struct Note: CoreModel {
            let id: Int
            var length: Int
        }
    }

    @Test("is there without any values, and so is one within it")
    func withoutValues() async throws {
        let folder = try TestFolder()
        let file = StoreLocation.file(folder.file("sites.sqlite"))
        let former = PersistenceManager(models: Loose.Site.self, store: file)
        try await former.save([Loose.Site(id: 1), Loose.Site(id: 2, whole: Loose.Whole(note: "a"))])
        let manager = PersistenceManager(models: Looser.Site.self, store: file)
        try await manager.save(Looser.Site(id: 3))
        #expect(
            try await manager.fetch(Looser.Site.self, sortedBy: .ascending(\.id)).map(\.whole)
                == [Loose.Wide(part: Loose.Part()), Loose.Wide(note: "a", part: Loose.Part()), nil])
    }

    @Test("is there without any values after a plan whose closure changes another model")
    func withoutValuesByPlan() async throws {
        let folder = try TestFolder()
        let file = StoreLocation.file(folder.file("sites.sqlite"))
        let former = PersistenceManager(models: Loose.Site.self, Loose.Note.self, store: file)
        try await former.save([Loose.Site(id: 1), Loose.Site(id: 2, whole: Loose.Whole(note: "a"))])
        try await former.save(Loose.Note(id: 1, text: "abc"))
        let manager = PersistenceManager(models: Looser.Site.self, Looser.Note.self, store: file)
        try await manager.load(
            migratingBy: MigrationPlan(from: ModelVersion("1", models: Loose.Site.self, Loose.Note.self)).changing(
                to: ModelVersion("2", models: Looser.Site.self, Looser.Note.self),
                .model(Loose.Note.self, to: Looser.Note.self) { Looser.Note(id: $0.id, length: $0.text.count) }))
        #expect(
            try await manager.fetch(Looser.Site.self, sortedBy: .ascending(\.id)).map(\.whole)
                == [Loose.Wide(part: Loose.Part()), Loose.Wide(note: "a", part: Loose.Part())])
    }
}
