import Foundation
import SwiftData
import TestSupport
import Testing

enum NotesV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Note.self] }

    @Model
    final class Note {
        var text: String
        init(text: String) { self.text = text }
    }
}

enum NotesV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Note.self] }

    @Model
    final class Note {
        @Attribute(originalName: "text") var content: String
        var length: Int = 0
        init(content: String) { self.content = content }
    }
}

enum NotesV3: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
    static var models: [any PersistentModel.Type] { [Note.self] }

    @Model
    final class Note {
        var content: String
        var length: Int = 0
        var author: String?
        init(content: String) { self.content = content }
    }
}

enum NotesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self, NotesV3.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: NotesV1.self, toVersion: NotesV2.self,
                willMigrate: { context in
                    for note in try context.fetch(FetchDescriptor<NotesV1.Note>()) where note.text.isEmpty {
                        context.delete(note)
                    }
                },
                didMigrate: { context in
                    for note in try context.fetch(FetchDescriptor<NotesV2.Note>()) { note.length = note.content.count }
                }),
            .lightweight(fromVersion: NotesV2.self, toVersion: NotesV3.self),
        ]
    }
}

/// A plan whose code fails after it has saved a part.
enum FailingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: NotesV1.self, toVersion: NotesV2.self,
                willMigrate: { context in
                    for note in try context.fetch(FetchDescriptor<NotesV1.Note>()) { note.text += "!" }
                    try context.save()
                },
                didMigrate: { _ in throw CocoaError(.featureUnsupported) })
        ]
    }
}

enum ShelvesV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Shelf.self, Volume.self] }

    @Model
    final class Shelf {
        var name: String
        var place = Place(room: "hall")
        @Relationship(inverse: \Volume.shelf) var volumes: [Volume] = []
        init(_ name: String) { self.name = name }

        struct Place: Codable { var room: String }
    }

    @Model
    final class Volume {
        var title: String
        var shelf: Shelf?
        init(_ title: String) { self.title = title }
    }
}

enum ShelvesV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Shelf.self, Volume.self] }

    @Model
    final class Shelf {
        var name: String
        var place = Place(room: "hall")
        @Relationship(inverse: \Volume.shelf) var volumes: [Volume] = []
        init(_ name: String) { self.name = name }

        struct Place: Codable {
            var room: String
            var floor: Int?
        }
    }

    @Model
    final class Volume {
        var title: String
        var pages: Int?
        var shelf: Shelf?
        init(_ title: String) { self.title = title }
    }
}

enum ShelvesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ShelvesV1.self, ShelvesV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: ShelvesV1.self, toVersion: ShelvesV2.self,
                willMigrate: { context in
                    let shelf = ShelvesV1.Shelf("new")
                    shelf.volumes = [ShelvesV1.Volume("added")]
                    context.insert(shelf)
                }, didMigrate: nil)
        ]
    }
}

@Suite("A migration")
struct MigrationTests {
    private func store(in folder: TestFolder) throws -> URL {
        let container = try ModelContainer(
            for: Schema(versionedSchema: NotesV1.self), configurations: ModelConfiguration(url: folder.store))
        let context = ModelContext(container)
        for text in ["one", "", "three"] { context.insert(NotesV1.Note(text: text)) }
        try context.save()
        return folder.store
    }

    @Test("adds and renames properties without a plan")
    func lightweight() throws {
        let folder = try TestFolder()
        let url = try store(in: folder)
        let container = try ModelContainer(
            for: Schema(versionedSchema: NotesV2.self), configurations: ModelConfiguration(url: url))
        let notes = try ModelContext(container).fetch(
            FetchDescriptor<NotesV2.Note>(sortBy: [SortDescriptor(\.content)]))
        #expect(notes.map(\.content) == ["", "one", "three"])
        #expect(notes.map(\.length) == [0, 0, 0])
    }

    @Test("runs the code of a plan's stages on the classes of their versions")
    func custom() throws {
        let folder = try TestFolder()
        let url = try store(in: folder)
        let container = try ModelContainer(
            for: Schema(versionedSchema: NotesV3.self), migrationPlan: NotesPlan.self,
            configurations: ModelConfiguration(url: url))
        let notes = try ModelContext(container).fetch(
            FetchDescriptor<NotesV3.Note>(sortBy: [SortDescriptor(\.content)]))
        #expect(notes.map(\.content) == ["one", "three"])
        #expect(notes.map(\.length) == [3, 5])
        #expect(notes.map(\.author) == [nil, nil])
    }

    @Test("leaves the store as it was if its code throws, whatever that has saved")
    func failing() throws {
        let folder = try TestFolder()
        let url = try store(in: folder)
        func texts() throws -> [String] {
            let container = try ModelContainer(
                for: Schema(versionedSchema: NotesV1.self), configurations: ModelConfiguration(url: url))
            return try ModelContext(container).fetch(
                FetchDescriptor<NotesV1.Note>(sortBy: [SortDescriptor(\.text)])
            ).map(\.text)
        }
        let before = try texts()
        for _ in 0..<2 {
            #expect(throws: SwiftDataError.loadIssueModelContainer) {
                try ModelContainer(
                    for: Schema(versionedSchema: NotesV2.self), migrationPlan: FailingPlan.self,
                    configurations: ModelConfiguration(url: url))
            }
            #expect(try texts() == before)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names.filter { !$0.hasPrefix(url.lastPathComponent) } == [])
    }

    @Test("begins with models that had no version, inserts related ones, and adds members to structs")
    func fromModelsWithoutVersion() throws {
        let folder = try TestFolder()
        do {
            let container = try ModelContainer(
                for: ShelvesV1.Shelf.self, configurations: ModelConfiguration(url: folder.store))
            let context = ModelContext(container)
            context.insert(ShelvesV1.Shelf("old"))
            try context.save()
        }
        let container = try ModelContainer(
            for: Schema(versionedSchema: ShelvesV2.self), migrationPlan: ShelvesPlan.self,
            configurations: ModelConfiguration(url: folder.store))
        let shelves = try ModelContext(container).fetch(
            FetchDescriptor<ShelvesV2.Shelf>(sortBy: [SortDescriptor(\.name)]))
        #expect(shelves.map(\.name) == ["new", "old"])
        #expect(shelves.first?.volumes.map(\.title) == ["added"])
        #expect(shelves.map(\.place.room) == ["hall", "hall"])
        #expect(shelves.map(\.place.floor) == [nil, nil])
        #expect(try storedVersions(folder.store) == ["2.0.0"])
    }

    @Test("is refused if it leads to an earlier version")
    func backward() throws {
        let folder = try TestFolder()
        let configuration = ModelConfiguration(url: folder.store)
        _ = try ModelContainer(for: Schema(versionedSchema: NotesV3.self), configurations: configuration)
        #expect(throws: SwiftDataError.backwardMigration) {
            try ModelContainer(
                for: Schema(versionedSchema: NotesV2.self), migrationPlan: NotesPlan.self,
                configurations: configuration)
        }
    }

    @Test("is refused for a store that no version of the plan describes")
    func unknown() throws {
        let folder = try TestFolder()
        let configuration = ModelConfiguration(url: folder.store)
        _ = try ModelContainer(for: Item.self, configurations: configuration)
        #expect(throws: SwiftDataError.unknownSchema) {
            try ModelContainer(
                for: Schema(versionedSchema: NotesV3.self), migrationPlan: NotesPlan.self,
                configurations: configuration)
        }
    }
}
