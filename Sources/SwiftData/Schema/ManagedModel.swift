import CoreData

/// Makes the managed object model of a schema.
enum ManagedModel {
    /// - Parameters:
    ///   - schema: the schema.
    ///   - configurations: the names of the entities of each configuration.
    ///   - showsModels: whether its objects are ``ModelObject``s, although the entities name no class.
    /// - Returns: the model.
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` for a type that cannot be kept, and for a relationship to
    ///   a model that the schema does not have.
    static func model(
        of schema: Schema, configurations: [String: Set<String>] = [:], showsModels: Bool = true
    ) throws -> NSManagedObjectModel {
        let problems = schema.modelTypes.values.sorted { $0.name < $1.name }.flatMap(\.problems)
        guard problems.isEmpty else {
            throw SwiftDataError.loadIssueModelContainer.because(problems.joined(separator: " "))
        }
        let entities = try schema.entities.map { try description(of: $0) }
        let byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        for entity in schema.entities where !entity.subentities.isEmpty {
            byName[entity.name]?.subentities = entity.subentities.map(\.name).sorted().compactMap { byName[$0] }
        }
        let model = NSManagedObjectModel()
        if showsModels { model.objectClassName = "SwiftData.ModelObject" }
        model.entities = entities
        model.versionIdentifiers = [schema.version.description]
        for entity in schema.entities {
            for relationship in entity.relationships where byName[relationship.destination] == nil {
                throw SwiftDataError.loadIssueModelContainer.because(
                    "\(entity.name).\(relationship.name) leads to \(relationship.destination), which the schema does not "
                        + "have. Add the class to the schema.")
            }
        }
        for (name, members) in configurations {
            model.setEntities(members.sorted().compactMap { byName[$0] }, forConfigurationName: name)
        }
        return model
    }

    private static func description(of entity: Schema.Entity) throws -> NSEntityDescription {
        let description = NSEntityDescription()
        description.name = entity.name
        description.renamingIdentifier = entity.name
        description.properties = entity.ownProperties.compactMap { property in
            switch property {
            case let relationship as Schema.Relationship: self.description(of: relationship)
            case let attribute as Schema.Attribute: self.description(of: attribute)
            default: nil
            }
        }
        description.uniquenessConstraints = entity.uniquenessConstraints
        description.indexes =
            entity.indices.map { index($0, name: "SwiftDataIndexOnBinary", .binary) }
            + entity.rtreeIndices.map { index($0, name: "SwiftDataIndexOnRTree", .rTree) }
        return description
    }

    private static func index(
        _ names: [String], name: String, _ type: NSFetchIndexElementType
    ) -> NSFetchIndexDescription {
        NSFetchIndexDescription(
            name: name + names.joined(),
            elements: names.map { NSFetchIndexElementDescription(propertyName: $0, collationType: type) })
    }

    // MARK: Properties

    private static func description(of relationship: Schema.Relationship) -> NSRelationshipDescription {
        let description = NSRelationshipDescription()
        take(relationship, description)
        description.versionHashModifier = relationship.hashModifier
        description.destinationName = relationship.destination
        description.inverseName = relationship.inverseName
        description.minCount = relationship.minimumModelCount ?? 0
        description.maxCount = relationship.isToOneRelationship ? 1 : relationship.maximumModelCount ?? 0
        description.deleteRule =
            switch relationship.deleteRule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
        return description
    }

    private static func take(_ property: any SchemaProperty, _ description: NSPropertyDescription) {
        description.name = property.name
        description.renamingIdentifier = property.originalName
        description.isOptional = property.isOptional
    }

    private static func description(of attribute: Schema.Attribute) -> NSAttributeDescription {
        let type = optionalContent(of: attribute.valueType) ?? attribute.valueType
        let shape = Schema.Attribute.shape(of: type, name: attribute.name, attribute)
        let description = description(of: shape, type, areElementsOptional: attribute.isOptional)
        take(attribute, description)
        description.versionHashModifier = attribute.hashModifier
        description.isTransient = attribute.options.contains(.ephemeral)
        description.allowsExternalBinaryDataStorage = attribute.options.contains(.externalStorage)
        description.preservesValueInHistoryOnDeletion = attribute.options.contains(.preserveValueOnDeletion)
        description.allowsCloudEncryption = attribute.options.contains(.allowsCloudEncryption)
        description.isIndexedBySpotlight = attribute.options.contains(.spotlight)
        if let value = attribute.defaultValue {
            description.defaultValue = defaultValue(value, shape, AttributeLayout(description))
        }
        return description
    }

    /// The value in key-value coding of a value of the property's type without its optionality.
    private static func defaultValue(_ value: Any, _ shape: AttributeShape, _ layout: AttributeLayout) -> Any? {
        func stored<Value>(_ value: Value) -> StoredValue? {
            (ValueCodings.coding(of: Value.self, shape) as? ValueCoding<Value>)?.stored(value)
        }
        return _openExistential(value, do: stored)?.objectValue(for: layout)
    }

    private static func description(
        of shape: AttributeShape, _ type: Any.Type, areElementsOptional: Bool
    ) -> NSAttributeDescription {
        let description = NSAttributeDescription()
        switch shape {
        case .primitive(let primitive): description.attributeType = primitive.attributeType
        case .json: description.attributeType = .binaryDataAttributeType
        case .archive:
            description.attributeType = .transformableAttributeType
            description.attributeValueClassName = "\(type)"
            description.valueTransformerName = "NSSecureUnarchiveFromData"
        case .transformable(let name):
            description.attributeType = .transformableAttributeType
            description.attributeValueClassName = "\(type)"
            description.valueTransformerName = name
        case .composite(let shape):
            let composite = NSCompositeAttributeDescription()
            composite.elements = shape.elements.map { element($0, isOptional: areElementsOptional) }
            return composite
        }
        return description
    }

    private static func element(_ element: CompositeShape.Element, isOptional: Bool) -> NSAttributeDescription {
        let isOptional = isOptional || element.isOptional
        let description: NSAttributeDescription
        switch element.content {
        case .caseName:
            description = NSAttributeDescription()
            description.attributeType = .stringAttributeType
        case .value(let shape):
            description = self.description(of: shape, Data.self, areElementsOptional: isOptional)
        }
        description.name = element.name
        description.renamingIdentifier = element.name
        description.isOptional = isOptional
        return description
    }
}

extension NSManagedObjectModel {
    /// The managed object model of model classes, for programs that open a store of theirs with Core Data.
    ///
    /// - Parameters:
    ///   - entityTypes: the classes; those that are related to them are added.
    ///   - managedObjectModel: a model whose entities are added; nil for none.
    /// - Returns: nil for classes that cannot be kept in a store.
    public static func makeManagedObjectModel(
        for entityTypes: [any PersistentModel.Type], mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(entityTypes), mergedWith: managedObjectModel)
    }

    /// The managed object model of model classes, for programs that open a store of theirs with Core Data.
    ///
    /// - Parameters:
    ///   - entityTypes: the classes; those that are related to them are added.
    ///   - managedObjectModel: a model whose entities are added; nil for none.
    /// - Returns: nil for classes that cannot be kept in a store.
    public static func makeManagedObjectModel(
        for entityTypes: any PersistentModel.Type..., mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? { makeManagedObjectModel(for: entityTypes, mergedWith: managedObjectModel) }

    /// The managed object model of a schema, for programs that open a store of it with Core Data.
    ///
    /// - Parameters:
    ///   - schema: the schema.
    ///   - managedObjectModel: a model whose entities are added; nil for none.
    /// - Returns: nil for a schema that cannot be kept in a store.
    public static func makeManagedObjectModel(
        for schema: Schema, mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        guard let model = try? ManagedModel.model(of: schema, showsModels: false) else { return nil }
        guard let managedObjectModel else { return model }
        return NSManagedObjectModel(byMerging: [model, managedObjectModel])
    }
}
