import CoreData

/// Writes down each step, and looks around.
final class TellingMigrationPolicy: NSEntityMigrationPolicy {
    private func tell(_ step: String, _ manager: NSMigrationManager) {
        (manager.userInfo?["log"] as? NSMutableArray)?.add(step)
    }
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        try super.begin(mapping, with: manager)
        tell("begin \(manager.currentEntityMapping === mapping)", manager)
    }
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        tell("create \(made.count) \(sInstance.managedObjectContext === manager.sourceContext)", manager)
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        tell("created", manager)
    }
    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        let sources = manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let inContext = dInstance.managedObjectContext === manager.destinationContext
        tell("relate \(sources.count) \(inContext)", manager)
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        tell("related", manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        tell("validate", manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        tell(
            "end \(manager.sourceEntity(for: mapping)?.name ?? "") \(manager.mappingModel.entityMappings.count)",
            manager)
    }
}

/// Makes two objects of each one itself.
final class DoublingMigrationPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        for suffix in ["1", "2"] {
            let made = NSEntityDescription.insertNewObject(
                forEntityName: mapping.destinationEntityName ?? "", into: manager.destinationContext)
            made.setValue(sInstance.shown("title") + suffix, forKey: "title")
            manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
        }
    }
}
