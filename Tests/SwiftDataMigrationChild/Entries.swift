import SwiftData

enum EntriesV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Entry.self] }

    @Model
    final class Entry {
        var number: Int
        init(_ number: Int) { self.number = number }
    }
}

enum EntriesV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Entry.self] }

    @Model
    final class Entry {
        var number: Int
        var note: String?
        init(_ number: Int) { self.number = number }
    }
}

enum EntriesV3: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
    static var models: [any PersistentModel.Type] { [Entry.self] }

    @Model
    final class Entry {
        var number: Int
        var note: String?
        /// Twice the number, as the step to this version has it.
        var total: Int = 0
        init(_ number: Int) { self.number = number }
    }
}

enum EntriesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [EntriesV1.self, EntriesV2.self, EntriesV3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: EntriesV1.self, toVersion: EntriesV2.self),
            // Code that must not be run twice on the same rows, and that saves them in parts.
            .custom(
                fromVersion: EntriesV2.self, toVersion: EntriesV3.self,
                willMigrate: { context in
                    try saving(context, try context.fetch(FetchDescriptor<EntriesV2.Entry>())) { entry in
                        entry.note = (entry.note ?? "") + "seen"
                    }
                },
                didMigrate: { context in
                    try saving(context, try context.fetch(FetchDescriptor<EntriesV3.Entry>())) { entry in
                        entry.total += 2 * entry.number
                    }
                }),
        ]
    }

    private static func saving<Model: PersistentModel>(
        _ context: ModelContext, _ models: [Model], _ change: (Model) -> Void
    ) throws {
        for start in stride(from: 0, to: models.count, by: 500) {
            for model in models[start..<min(start + 500, models.count)] { change(model) }
            try context.save()
        }
    }
}
