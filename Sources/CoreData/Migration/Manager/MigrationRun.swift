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

/// The way an entity mapping sets the attributes of destination objects, computed once for all objects of the two
/// entities.
///
/// Most attributes take the value of an attribute of the same type. These values are copied from row to row; evaluating
/// an expression by key-value coding would take a hundred times as long.
final class AttributeSteps {
    enum Step {
        /// - Parameter keepsDefault: whether a missing value leaves the default.
        case copy(from: Int, to: Int, keepsDefault: Bool)
        /// - Parameter keepsDefault: whether a missing value leaves the default.
        case convert(Conversion, from: Int, to: Int, keepsDefault: Bool)
        /// A new composite attribute gets the default values of its elements.
        case fill(StoredValue, to: Int)
        /// - Parameter plain: the slots of the two attributes, if the expression is just the source attribute's value.
        case evaluate(NSPropertyMapping, plain: (from: Int, to: Int)?)
    }

    /// The conversion of a value to another version of its attribute.
    enum Conversion {
        case composite(CompositeConversion)
        case number(NumberConversion)

        func converted(_ value: StoredValue) -> StoredValue {
            switch self {
            case .composite(let conversion): conversion.converted(value)
            case .number(let conversion): conversion.converted(value)
            }
        }
    }

    let source: EntityLayout
    let destination: EntityLayout
    let steps: [Step]
    /// Whether objects of the destination entity have no code of their own that must see every value.
    let isPlain: Bool

    init(_ mappings: [NSPropertyMapping], from source: EntityLayout, to destination: EntityLayout) {
        self.source = source
        self.destination = destination
        isPlain = destination.description.objectClassName == "NSManagedObject"
        steps = mappings.map { mapping in
            if let step = Self.filling(mapping, source, destination) { return step }
            guard let expression = mapping.valueExpression,
                let key = MigrationExpression.sourceKey(expressionTree(of: expression)),
                let from = source.slotIndex(forName: key), let name = mapping.name,
                let to = destination.slotIndex(forName: name)
            else { return .evaluate(mapping, plain: nil) }
            let (former, present) = (source.slots[from].attribute, destination.slots[to].attribute)
            if let conversion = Self.conversion(former, present) {
                return .convert(conversion, from: from, to: to, keepsDefault: mapping.keepsDefault)
            }
            guard Self.canCopy(former, present) else { return .evaluate(mapping, plain: (from, to)) }
            return .copy(from: from, to: to, keepsDefault: mapping.keepsDefault)
        }
    }

    private static func filling(
        _ mapping: NSPropertyMapping, _ source: EntityLayout, _ destination: EntityLayout
    ) -> Step? {
        guard mapping.valueExpression == nil, let to = mapping.name.flatMap(destination.slotIndex(forName:)),
            let attribute = destination.slots[to].attribute
        else { return nil }
        if let list = attribute.markedList.flatMap(destination.relationship(named:)), source.hasList(list) {
            return .fill(.integer(1), to: to)
        }
        guard attribute.isComposite else { return nil }
        let value = CompositeConversion(from: nil, to: attribute).converted(.null)
        return value.isNull ? nil : .fill(value, to: to)
    }

    /// A value that is not a value of the attribute here, and is copied as it is: the reference to a file that cannot
    /// be read, and the bytes of a transformable value whose transformer or class is not known.
    func unreadValue(of object: NSManagedObject, _ plain: (from: Int, to: Int)) -> StoredValue? {
        let value = object.values[plain.from]
        if value.missingExternalData != nil { return value }
        guard case .data = value, source.slots[plain.from].attribute?.type == .transformableAttributeType,
            destination.slots[plain.to].attribute?.type == .transformableAttributeType
        else { return nil }
        return value
    }

    private static func conversion(_ source: AttributeLayout?, _ destination: AttributeLayout?) -> Conversion? {
        guard let source, let destination, destination.derivation == nil else { return nil }
        if CompositeConversion.canConvert(source, to: destination) {
            return .composite(CompositeConversion(from: source, to: destination))
        }
        return NumberConversion(from: source, to: destination).map(Conversion.number)
    }

    private static func canCopy(_ source: AttributeLayout?, _ destination: AttributeLayout?) -> Bool {
        guard let source, let destination else { return false }
        return source.type == destination.type && source.type.isPlain && destination.derivation == nil
    }
}

extension EntityLayout {
    /// Whether the objects had a list that is optional now, under its name or its former one.
    fileprivate func hasList(_ list: RelationshipLayout) -> Bool {
        let former = relationship(named: list.description.renamingIdentifier ?? "") ?? relationship(named: list.name)
        return former?.isToMany ?? false
    }
}
