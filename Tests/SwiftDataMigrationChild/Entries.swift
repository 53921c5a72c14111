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
        var total: Int = -1
        init(_ number: Int) { self.number = number }
    }
}

enum EntriesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [EntriesV1.self, EntriesV2.self, EntriesV3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: EntriesV1.self, toVersion: EntriesV2.self),
            .custom(
                fromVersion: EntriesV2.self, toVersion: EntriesV3.self, willMigrate: nil,
                didMigrate: { context in
                    for entry in try context.fetch(FetchDescriptor<EntriesV3.Entry>()) {
                        entry.total = 2 * entry.number
                    }
                    try context.save()
                }),
        ]
    }
}
