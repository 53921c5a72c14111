import Foundation
import PredicateFormat

extension ModelDocument {
    /// The model as a value.
    ///
    /// - Throws: a `ModelFileError` that names the entity and property whose predicate or expression no file can hold.
    package init(_ model: NSManagedObjectModel) throws {
        self.init()
        entities = try model.entities.map(EntityDocument.init)
        configurations = model.configurationMembers
        for (name, template) in model.templates {
            guard let request = template as? any FetchDescription else { continue }
            fetchRequestTemplates[name] = try Self.describing(entity: nil, property: nil) {
                try FetchRequestDocument(request)
            }
        }
        versionIdentifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    }

    /// Runs a conversion, and adds the place to its error.
    fileprivate static func describing<Result>(
        entity: String?, property: String?, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as ModelFileError {
            throw error
        } catch {
            throw ModelFileError(
                .unwritable, entity: entity, property: property,
                reason: "it has a predicate or expression that no model file can hold: \(error.localizedDescription)")
        }
    }
}

extension EntityDocument {
    init(_ entity: NSEntityDescription) throws {
        self.init(name: entity.name ?? "")
        let name = name
        className = entity.managedObjectClassName == "NSManagedObject" ? nil : entity.managedObjectClassName
        isAbstract = entity.isAbstract
        parentName = entity.superentity?.name
        properties = try entity.ownProperties.map { property in
            try ModelDocument.describing(entity: name, property: property.name) { try PropertyDocument(property) }
        }
        uniquenessConstraints = entity.uniquenessConstraintNames
        indexes = try entity.indexes.map { index in
            try ModelDocument.describing(entity: name, property: nil) { try IndexDocument(index) }
        }
        compoundIndexes = entity.compoundIndexes.map { index in
            index.compactMap { ($0 as? NSPropertyDescription)?.name ?? ($0 as? String) }
        }
        spotlightDisplayName = try entity.coreSpotlightDisplayNameExpression.map { expression in
            try ModelDocument.describing(entity: name, property: nil) {
                try PredicateBridge.expressionTree(of: expression)
            }
        }
        userInfo = ModelValue.userInfo(entity.userInfo)
        versionHashModifier = entity.versionHashModifier
        renamingIdentifier = entity.storedRenamingIdentifier == name ? nil : entity.storedRenamingIdentifier
    }
}

extension PropertyDocument {
    init(_ property: NSPropertyDescription) throws {
        switch property {
        case let attribute as NSAttributeDescription:
            self.init(name: property.name, kind: .attribute(try AttributeDocument(attribute)))
        case let relationship as NSRelationshipDescription:
            self.init(name: property.name, kind: .relationship(RelationshipDocument(relationship)))
        case let fetched as NSFetchedPropertyDescription:
            let request = try fetched.fetchRequest.map(FetchRequestDocument.init)
            self.init(name: property.name, kind: .fetched(request))
        default:
            throw ModelFileError(
                .unwritable, property: property.name,
                reason: "a property of the class \(type(of: property)) cannot be part of an entity")
        }
        isOptional = property.isOptional
        isTransient = property.isTransient || property is NSFetchedPropertyDescription
        isIndexed = property.isIndexed
        isIndexedBySpotlight = property.isIndexedBySpotlight
        isStoredInExternalRecord = property.isStoredInExternalRecord
        userInfo = ModelValue.userInfo(property.userInfo)
        versionHashModifier = property.versionHashModifier
        let identifier = property.storedRenamingIdentifier
        renamingIdentifier = identifier == property.name ? nil : identifier
        let warnings = property.validationWarnings
        validation = try property.validationPredicates.enumerated().map { position, predicate in
            let warning = warnings.indices.contains(position) ? ModelValue(object: warnings[position]) : nil
            return ValidationDocument(
                predicate: try PredicateBridge.tree(of: predicate), warning: warning ?? .string(""))
        }
    }
}

extension AttributeDocument {
    init(_ attribute: NSAttributeDescription) throws {
        self.init(type: attribute.attributeType)
        let className = attribute.storedValueClassName
        valueClassName = className == attribute.attributeType.valueClassName ? nil : className
        defaultValue =
            (attribute.undecodedDefaultValue as? ArchivedModelValue)?.value
            ?? attribute.defaultValue.flatMap(ModelValue.init(object:))
        valueTransformerName = attribute.valueTransformerName
        allowsExternalStorage = attribute.allowsExternalBinaryDataStorage
        preservesValueOnDeletion = attribute.preservesValueInHistoryOnDeletion
        allowsCloudEncryption = attribute.allowsCloudEncryption
        if let derived = attribute as? NSDerivedAttributeDescription {
            derivation =
                try derived.derivationExpression
                .map { .expression(try PredicateBridge.expressionTree(of: $0)) } ?? .unknown
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            elements = try composite.elements.map(PropertyDocument.init)
        }
    }
}

extension RelationshipDocument {
    init(_ relationship: NSRelationshipDescription) {
        self.init()
        destinationName = relationship.destinationEntity?.name ?? relationship.destinationName
        inverseName = relationship.inverseRelationship?.name ?? relationship.inverseName
        minCount = relationship.minCount
        maxCount = relationship.maxCount
        deleteRule = relationship.deleteRule
        isOrdered = relationship.isOrdered
    }
}

extension IndexDocument {
    init(_ index: NSFetchIndexDescription) throws {
        let elements = try index.elements.map { element in
            if let expression = element.property as? NSExpressionDescription {
                let tree = try expression.expression.map(PredicateBridge.expressionTree)
                return IndexElementDocument(
                    .expression(name: expression.name, tree, expression.expressionResultType),
                    type: element.collationType, isAscending: element.isAscending)
            }
            return IndexElementDocument(
                .property(element.propertyName ?? ""), type: element.collationType, isAscending: element.isAscending)
        }
        let predicate = try index.partialIndexPredicate.map(PredicateBridge.tree)
        self.init(name: index.name, elements: elements, predicate: predicate)
    }
}

extension FetchRequestDocument {
    init(_ request: any FetchDescription) throws {
        self.init(entityName: request.entityName ?? "")
        predicate = try request.predicate.map(PredicateBridge.tree)
        sortTerms = try request.sortDescriptors.map(PredicateBridge.sortTerms) ?? []
        limit = request.fetchLimit
        offset = request.fetchOffset
        batchSize = request.fetchBatchSize
        resultType = request.resultType.rawValue
        includesSubentities = request.includesSubentities
        includesPropertyValues = request.includesPropertyValues
        includesPendingChanges = request.includesPendingChanges
        returnsObjectsAsFaults = request.returnsObjectsAsFaults
        returnsDistinctResults = request.returnsDistinctResults
        refreshesRefetchedObjects = request.shouldRefreshRefetchedObjects
        prefetchedKeyPaths = request.relationshipKeyPathsForPrefetching ?? []
        propertiesToFetch = Self.names(request.propertiesToFetch)
        propertiesToGroupBy = Self.names(request.propertiesToGroupBy)
        havingPredicate = try request.havingPredicate.map(PredicateBridge.tree)
    }

    private static func names(_ properties: [Any]?) -> [String] {
        (properties ?? []).compactMap { ($0 as? NSPropertyDescription)?.name ?? ($0 as? String) }
    }
}

extension ModelValue {
    static func userInfo(_ source: [AnyHashable: Any]?) -> [String: ModelValue] {
        var result: [String: ModelValue] = [:]
        for (key, value) in source ?? [:] {
            result[(key.base as? String) ?? "\(key.base)"] =
                (value as? ArchivedModelValue)?.value ?? ModelValue(object: value)
        }
        return result
    }
}

/// Converts between the predicate classes of descriptions and the trees of documents.
enum PredicateBridge {
    static func tree(of predicate: NSPredicate) throws -> PredicateTree { try predicateTree(of: predicate) }

    static func predicate(of tree: PredicateTree) throws -> NSPredicate { makePredicate(tree) }

    static func expressionTree(of expression: NSExpression) throws -> ExpressionTree {
        PredicateFormat.expressionTree(of: expression)
    }

    static func expression(of tree: ExpressionTree) throws -> NSExpression { makeExpression(tree) }

    static func sortDescriptor(_ term: SortTerm) -> NSSortDescriptor { makeSortDescriptor(term) }

    static func sortTerms(of descriptors: [NSSortDescriptor]) throws -> [SortTerm] {
        try PredicateFormat.sortTerms(of: descriptors)
    }
}
