import Foundation
import ModelFiles

/// Makes Core Data's classes from a model as a value, after checking it.
package enum ModelAssembler {
    /// Builds a model.
    ///
    /// - Parameters:
    ///   - document: the model.
    ///   - versionHashes: the version hashes that were read with it, by entity.
    /// - Returns: the model, which can be used and changed.
    /// - Throws: an error that names the entity and property if a name is missing, unknown or used twice, or entities
    ///   inherit from each other in a cycle.
    package static func model(
        _ document: ModelDocument, versionHashes: [String: Data] = [:]
    ) throws -> NSManagedObjectModel {
        try DocumentCheck.check(document)
        let document = document.withImpliedIndexes
        let model = NSManagedObjectModel()
        var entities: [String: NSEntityDescription] = [:]
        for source in document.entities { entities[source.name] = entity(source) }
        let childrenByParent = Dictionary(grouping: document.entities) { $0.parentName ?? "" }
        for source in document.entities {
            guard let children = childrenByParent[source.name] else { continue }
            entities[source.name]?.subentities = children.compactMap { entities[$0.name] }
        }
        for source in document.entities {
            entities[source.name]?.properties = try source.properties.map {
                try property($0, of: source.name, entities)
            }
        }
        model.entities = document.entities.compactMap { entities[$0.name] }
        link(model)
        for source in document.entities {
            entities[source.name]?.indexes = try source.indexes.map(index)
            entities[source.name]?.uniquenessConstraints = source.uniquenessConstraints
            entities[source.name]?.compoundIndexes = source.compoundIndexes
            entities[source.name]?.coreSpotlightDisplayNameExpression =
                try source.spotlightDisplayName.map(PredicateBridge.expression)
        }
        for (name, members) in document.configurations {
            model.setEntityNames(members, forConfigurationName: name)
        }
        for (name, request) in document.fetchRequestTemplates {
            model.templates[name] = try fetchRequest(request, entities)
        }
        model.versionIdentifiers = Set(document.versionIdentifiers)
        try ModelCheck.check(model)
        model.recordVersionHashes(versionHashes)
        model.unreadProperties = document.losses.map(\.text)
        return model
    }

    private static func entity(_ source: EntityDocument) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = source.name
        if let className = source.className { entity.managedObjectClassName = className }
        entity.isAbstract = source.isAbstract
        if !source.userInfo.isEmpty { entity.userInfo = userInfo(source.userInfo) }
        entity.versionHashModifier = source.versionHashModifier
        if let identifier = source.renamingIdentifier { entity.renamingIdentifier = identifier }
        return entity
    }

    private static func userInfo(_ source: [String: ModelValue]) -> [AnyHashable: Any] {
        Dictionary(
            uniqueKeysWithValues: source.map { (AnyHashable($0.key), $0.value.object ?? ArchivedModelValue($0.value)) })
    }

    private static func property(
        _ source: PropertyDocument, of entity: String, _ entities: [String: NSEntityDescription]
    ) throws -> NSPropertyDescription {
        let property: NSPropertyDescription
        switch source.kind {
        case .attribute(let attribute):
            property = try self.attribute(attribute, of: entity, entities)
        case .relationship(let relationship):
            property = self.relationship(relationship)
        case .fetched(let request):
            let fetched = NSFetchedPropertyDescription()
            fetched.fetchRequest = try request.map { try fetchRequest($0, entities) }
            property = fetched
        }
        property.name = source.name
        property.isOptional = source.isOptional
        property.isTransient = source.isTransient
        property.isIndexed = source.isIndexed
        property.isIndexedBySpotlight = source.isIndexedBySpotlight
        property.isStoredInExternalRecord = source.isStoredInExternalRecord
        if !source.userInfo.isEmpty { property.userInfo = userInfo(source.userInfo) }
        property.versionHashModifier = source.versionHashModifier
        if let identifier = source.renamingIdentifier { property.renamingIdentifier = identifier }
        if !source.validation.isEmpty {
            property.setValidation(
                predicates: try source.validation.map { try PredicateBridge.predicate(of: $0.predicate) },
                warnings: source.validation.map { $0.warning.object ?? "" })
        }
        return property
    }

    private static func attribute(
        _ source: AttributeDocument, of entity: String, _ entities: [String: NSEntityDescription]
    ) throws -> NSAttributeDescription {
        let attribute: NSAttributeDescription
        if let derivation = source.derivation {
            let derived = NSDerivedAttributeDescription()
            if case .expression(let tree) = derivation {
                derived.derivationExpression = try PredicateBridge.expression(of: tree)
            }
            attribute = derived
        } else if source.type == .compositeAttributeType {
            let composite = NSCompositeAttributeDescription()
            composite.elements = try source.elements.compactMap {
                try property($0, of: entity, entities) as? NSAttributeDescription
            }
            attribute = composite
        } else {
            attribute = NSAttributeDescription()
        }
        attribute.attributeType = source.type
        if let className = source.valueClassName { attribute.attributeValueClassName = className }
        attribute.valueTransformerName = source.valueTransformerName
        attribute.allowsExternalBinaryDataStorage = source.allowsExternalStorage
        attribute.preservesValueInHistoryOnDeletion = source.preservesValueOnDeletion
        attribute.allowsCloudEncryption = source.allowsCloudEncryption
        if let value = source.defaultValue {
            attribute.defaultValue = value.object
            if case .archived = value { attribute.undecodedDefaultValue = ArchivedModelValue(value) }
        }
        return attribute
    }

    private static func relationship(_ source: RelationshipDocument) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.destinationName = source.destinationName
        relationship.inverseName = source.inverseName
        relationship.minCount = source.minCount
        relationship.maxCount = source.maxCount
        relationship.deleteRule = source.deleteRule
        relationship.isOrdered = source.isOrdered
        return relationship
    }

    /// Replaces the names in relationships by descriptions.
    private static func link(_ model: NSManagedObjectModel) {
        let entities = model.entitiesByName
        let relationships = model.entities.flatMap(\.ownProperties).compactMap { $0 as? NSRelationshipDescription }
        for relationship in relationships {
            relationship.destinationEntity = relationship.destinationName.flatMap { entities[$0] }
        }
        for relationship in relationships {
            guard let name = relationship.inverseName else { continue }
            // Not `relationshipsByName`, which is made anew each time.
            relationship.inverseRelationship =
                relationship.destinationEntity?.propertiesByName[name] as? NSRelationshipDescription
        }
    }

    private static func index(_ source: IndexDocument) throws -> NSFetchIndexDescription {
        let elements = try source.elements.map { element in
            let description: NSFetchIndexElementDescription
            switch element.subject {
            case .property(let name):
                description = NSFetchIndexElementDescription(propertyName: name, collationType: element.type)
            case .expression(let name, let tree, let type):
                let property = NSExpressionDescription()
                property.name = name
                property.expression = try tree.map { try PredicateBridge.expression(of: $0) }
                property.expressionResultType = type
                description = NSFetchIndexElementDescription(property: property, collationType: element.type)
            }
            description.isAscending = element.isAscending
            return description
        }
        let index = NSFetchIndexDescription(name: source.name, elements: elements)
        index.partialIndexPredicate = try source.predicate.map { try PredicateBridge.predicate(of: $0) }
        return index
    }

    private static func fetchRequest(
        _ source: FetchRequestDocument, _ entities: [String: NSEntityDescription]
    ) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: source.entityName)
        request.entity = entities[source.entityName]
        request.predicate = try source.predicate.map { try PredicateBridge.predicate(of: $0) }
        if !source.sortTerms.isEmpty { request.sortDescriptors = source.sortTerms.map(PredicateBridge.sortDescriptor) }
        request.fetchLimit = source.limit
        request.fetchOffset = source.offset
        request.fetchBatchSize = source.batchSize
        request.resultType = NSFetchRequestResultType(rawValue: source.resultType)
        request.includesSubentities = source.includesSubentities
        request.includesPropertyValues = source.includesPropertyValues
        request.includesPendingChanges = source.includesPendingChanges
        request.returnsObjectsAsFaults = source.returnsObjectsAsFaults
        request.returnsDistinctResults = source.returnsDistinctResults
        request.shouldRefreshRefetchedObjects = source.refreshesRefetchedObjects
        if !source.prefetchedKeyPaths.isEmpty { request.relationshipKeyPathsForPrefetching = source.prefetchedKeyPaths }
        if !source.propertiesToFetch.isEmpty { request.propertiesToFetch = source.propertiesToFetch }
        if !source.propertiesToGroupBy.isEmpty { request.propertiesToGroupBy = source.propertiesToGroupBy }
        request.havingPredicate = try source.havingPredicate.map { try PredicateBridge.predicate(of: $0) }
        return request
    }
}

/// A value of a model file for which there is no class here, kept where Core Data has an object.
final class ArchivedModelValue: NSObject {
    let value: ModelValue
    init(_ value: ModelValue) { self.value = value }
}

/// The copy of its model that a SQLite store keeps in `Z_MODELCACHE.Z_CONTENT`: a keyed archive, raw-deflated.
package enum ModelCache {
    /// The cache of a model.
    ///
    /// It leaves out fetch requests, members of configurations and indexes that name what the model does not have: the
    /// store works without them, and its copy could not be read when it is to be migrated.
    ///
    /// - Throws: an error that names the entity and property which no archive can hold, or what is incomplete.
    package static func modelCacheData(for model: NSManagedObjectModel) throws -> Data {
        try ModelFileError.naming(nil) {
            var document = try ModelDocument(model)
            document.leaveOutLostNames(of: model)
            try DocumentCheck.check(document)
            let archive = try ModelArchiveWriter.archive(of: document, form: .cache)
            return try RawDeflate.deflate(archive.data())
        }
    }

    /// The model of a cache.
    ///
    /// - Parameters:
    ///   - data: the content of the column.
    ///   - entityVersionHashes: the hashes in the store's metadata (`NSStoreModelVersionHashes`), which the cache
    ///     itself lacks.
    /// - Returns: the model that the store was made with.
    /// - Throws: an error in the Cocoa domain if the cache is damaged.
    package static func model(
        fromModelCache data: Data, entityVersionHashes: [String: Data]
    ) throws -> NSManagedObjectModel {
        try ModelFileError.naming(nil) {
            let document = try ModelArchiveReader.document(of: RawDeflate.inflate(data))
            return try ModelAssembler.model(document, versionHashes: entityVersionHashes)
        }
    }
}

extension ModelDocument {
    fileprivate mutating func leaveOutLostNames(of model: NSManagedObjectModel) {
        let known = model.entitiesByName
        configurations = configurations.mapValues { $0.filter { known[$0] != nil } }
        fetchRequestTemplates = fetchRequestTemplates.filter { known[$0.value.entityName] != nil }
        forgetLostIndexes()
        for place in entities.indices {
            for index in entities[place].properties.indices {
                guard case .fetched(let request?) = entities[place].properties[index].kind,
                    known[request.entityName] == nil
                else { continue }
                entities[place].properties[index].kind = .fetched(nil)
            }
        }
    }
}
