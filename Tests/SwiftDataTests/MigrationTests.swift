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
