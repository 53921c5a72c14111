import Foundation

/// The state of a running migration: two contexts, the mapping, the policies, and the pairs of objects.
final class MigrationRun {
    // Confined to the migration's thread.
    let mapping: NSMappingModel
    /// The entity mappings to carry out, in their order.
    let entityMappings: [NSEntityMapping]
    let source: NSManagedObjectContext
    let destination: NSManagedObjectContext
    let associations: MigrationAssociations
    let portions: MigrationPortions
    var current: NSEntityMapping?
    /// The current stage of the entity mappings.
    var step: (number: Int, of: Int) = (0, of: 1)
    /// The relationships that have the pairs of several.
    private(set) lazy var joined = JoinedRelationships(
        entityMappings, from: source.modelLayout?.entityByName ?? [:], to: destination.modelLayout?.entityByName ?? [:])
    private var mappingNames: [ObjectIdentifier: [String]] = [:]
    private var attributeSteps: (mapping: NSEntityMapping, steps: AttributeSteps)?
    private var relationshipSteps: (mapping: NSEntityMapping, source: EntityLayout, steps: RelationshipSteps)?
    private var destinationEntity: (mapping: NSEntityMapping, name: String, entity: NSEntityDescription)?
    /// A policy for each entity mapping, in their order.
    let policies: [NSEntityMigrationPolicy]

    /// - Parameters:
    ///   - mapping: the mapping from the source to the destination.
    ///   - source: the coordinator of the store to read.
    ///   - destination: the coordinator of the store to write.
    ///   - portion: how many objects are made or changed before they are saved.
    ///   - isNew: whether the destination had no rows before.
    ///   - held: the entities of the source store; nil for all.
    /// - Throws: an error if a policy's class cannot be found.
    init(
        _ mapping: NSMappingModel, source: NSPersistentStoreCoordinator, destination: NSPersistentStoreCoordinator,
        portion: Int, isNew: Bool, held: [NSEntityDescription]?
    ) throws {
        self.mapping = mapping
        let names = held.map { Set($0.map { $0.name ?? "" }) }
        entityMappings = (mapping.entityMappings ?? []).filter { entity in
            entity.sourceEntityName.flatMap { names?.contains($0) } ?? true
        }
        policies = try entityMappings.map { try MigrationPolicies.policy(for: $0) }
        self.source = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        self.source.persistentStoreCoordinator = source
        self.destination = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        self.destination.persistentStoreCoordinator = destination
        associations = MigrationAssociations(source: self.source, destination: self.destination)
        portions = MigrationPortions(
            source: self.source, destination: self.destination, associations: associations, size: portion,
            isNew: isNew)
    }

    // MARK: What is worked out once for many objects

    /// The names of the entity mappings that may take objects of an entity: the entity's own, and then those of its
    /// parents, whose source expressions may fetch subentities, too.
    func mappingNames(taking entity: EntityLayout) -> [String] {
        if let known = mappingNames[ObjectIdentifier(entity)] { return known }
        let own = entityMappings.filter { $0.sourceEntityName == entity.name }.map { $0.name ?? "" }
        let names = own + (entity.superentity.map(mappingNames(taking:)) ?? [])
        mappingNames[ObjectIdentifier(entity)] = names
        return names
    }

    /// How a mapping sets attributes; kept until another mapping is used.
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

    /// How a mapping sets relationships; kept until another mapping is used.
    func relationshipSteps(_ mapping: NSEntityMapping, from source: EntityLayout) -> RelationshipSteps {
        if let known = relationshipSteps, known.mapping === mapping, known.source === source { return known.steps }
        let steps = RelationshipSteps(mapping.relationshipMappings ?? [], from: source)
        relationshipSteps = (mapping, source, steps)
        return steps
    }

    /// The destination entity that a mapping names; kept until another mapping is used.
    func destinationEntity(_ mapping: NSEntityMapping) -> NSEntityDescription? {
        guard let name = mapping.destinationEntityName else { return nil }
        if let known = destinationEntity, known.mapping === mapping, known.name == name { return known.entity }
        guard let entity = destination.modelLayout?.entityByName[name]?.description else { return nil }
        destinationEntity = (mapping, name, entity)
        return entity
    }
}
