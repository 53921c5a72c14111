import Foundation

/// What a migration manager has while it migrates: two contexts, the mapping, the policies, and who became whom.
final class MigrationRun {
    // Confined to the migration's thread.
    let mapping: NSMappingModel
    let source: NSManagedObjectContext
    let destination: NSManagedObjectContext
    var associations = MigrationAssociations()
    var current: NSEntityMapping?
    private var attributeSteps: (mapping: NSEntityMapping, steps: AttributeSteps)?
    /// A policy for each entity mapping, in their order.
    let policies: [NSEntityMigrationPolicy]

    /// - Throws: when a policy's class cannot be found.
    init(
        _ mapping: NSMappingModel, source: NSPersistentStoreCoordinator, destination: NSPersistentStoreCoordinator
    ) throws {
        self.mapping = mapping
        policies = try (mapping.entityMappings ?? []).map { try MigrationPolicies.policy(for: $0) }
        self.source = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        self.source.persistentStoreCoordinator = source
        self.destination = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        self.destination.persistentStoreCoordinator = destination
    }

    /// How a mapping sets attributes; kept until another one asks.
    func attributeSteps(
        _ mapping: NSEntityMapping, from source: EntityLayout, to destination: EntityLayout
    ) -> AttributeSteps {
        if let known = attributeSteps, known.mapping === mapping, known.steps.source === source,
            known.steps.destination === destination
        {
            return known.steps
        }
        let steps = AttributeSteps(mapping.attributeMappings ?? [], from: source, to: destination)
        attributeSteps = (mapping, steps)
        return steps
    }
}

/// The stores of a migration.
struct MigrationEnds {
    struct End {
        let url: URL
        let type: String
        let options: [AnyHashable: Any]?
    }

    let source: End
    let destination: End

    var areSQLite: Bool { source.type == NSSQLiteStoreType && destination.type == NSSQLiteStoreType }

    /// Whether there is a store to add to.
    var destinationExists: Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: destination.url.path)
        return ((attributes?[.size] as? NSNumber)?.intValue ?? 0) > 0
    }

    func removeDestination() throws {
        guard destination.type != NSInMemoryStoreType else { return }
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: destination.url.path + suffix) {
            try FileManager.default.removeItem(atPath: destination.url.path + suffix)
        }
        let external = ExternalData(store: destination.url).support
        if FileManager.default.fileExists(atPath: external.path) { try FileManager.default.removeItem(at: external) }
    }
}
