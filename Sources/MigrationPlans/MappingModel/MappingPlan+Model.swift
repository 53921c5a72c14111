import CompactCollections
import CoreDataModel
import Foundation

// Converts an inferred plan to the mapping model that Core Data would make.
extension NSEntityMapping {
    convenience init(_ plan: EntityMappingPlan, from source: NSManagedObjectModel, to destination: NSManagedObjectModel)
    {
        self.init()
        name = plan.mappingName
        switch plan.kind {
        case .add: mappingType = .addEntityMappingType
        case .remove: mappingType = .removeEntityMappingType
        case .copy: mappingType = .copyEntityMappingType
        case .transform: mappingType = .transformEntityMappingType
        }
        sourceEntityName = plan.source
        sourceEntityVersionHash = plan.source.flatMap { source.entitiesByName[$0]?.versionHash }
        destinationEntityName = plan.destination
        destinationEntityVersionHash = plan.destination.flatMap { destination.entitiesByName[$0]?.versionHash }
        guard plan.kind != .add, plan.kind != .remove else { return }
        let attributes = plan.destination.flatMap { destination.entitiesByName[$0]?.attributesByName } ?? [:]
        attributeMappings = plan.attributes.map { attribute in
            let mapping = NSPropertyMapping(name: attribute.name, value: attribute.source.map(Self.value))
            let description = attributes[attribute.name]
            mapping.keepsDefault = description?.isOptional == false && description?.defaultValue != nil
            return mapping
        }
        relationshipMappings = plan.relationships.map { .init(name: $0.name, value: $0.source.map(Self.destinations)) }
        if plan.kind == .transform {
            userInfo = Self.summary(of: plan, plan.source.flatMap { source.entitiesByName[$0] })
        }
    }

    /// The user info of an inferred mapping, with Core Data's keys: the names of the destination's properties that come
    /// from the source, of the new ones, and of the source's removed ones.
    private static func summary(of plan: EntityMappingPlan, _ source: NSEntityDescription?) -> [AnyHashable: Any] {
        let properties = plan.attributes + plan.relationships
        let stored = (source?.properties ?? []).filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
        return [
            "mappedProperties": Set(properties.filter { $0.source != nil }.map(\.name)),
            "addedProperties": Set(properties.filter { $0.source == nil }.map(\.name)),
            "removedProperties": Set(stored.map(\.name)).subtracting(properties.compactMap(\.source)),
        ]
    }

    /// `FUNCTION($source, "valueForKey:", "name")`
    private static func value(_ key: String) -> ExpressionTree {
        .call(on: .variable(NSMigrationSourceObjectKey), name: "valueForKey:", arguments: [.constant(.string(key))])
    }

    /// `FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "books", …)`
    private static func destinations(_ key: String) -> ExpressionTree {
        .call(
            on: .variable(NSMigrationManagerKey), name: MigrationFunction.destinationsOfRelationship,
            arguments: [.constant(.string(key)), value(key)])
    }
}

extension NSPropertyMapping {
    fileprivate convenience init(name: String, value: ExpressionTree?) {
        self.init()
        self.name = name
        valueExpression = value.map(makeExpression)
    }
}
