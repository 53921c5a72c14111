import CompactCollections
import Foundation
import Ordering

/// Checks that a mapping model fits two models before a migration begins, rather than in the middle of it.
enum MappingCheck {
    /// - Throws: 134110, with the names of the entity mapping and of what is missing.
    static func check(
        _ mapping: NSMappingModel, from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) throws {
        for entity in mapping.entityMappings ?? [] {
            _ = try existing(entity.sourceEntityName, in: source, "source", entity)
            let target = try existing(entity.destinationEntityName, in: destination, "destination", entity)
            for property in (entity.attributeMappings ?? []) + (entity.relationshipMappings ?? []) {
                guard let target, let name = property.name, property.valueExpression != nil,
                    target.propertiesByName[name] == nil
                else { continue }
                throw error(
                    entity,
                    "it sets “\(name)”, and entity “\(target.name ?? "")” of the destination model has no such property"
                )
            }
            _ = try MigrationPolicies.policy(for: entity)
        }
    }

    private static func existing(
        _ name: String?, in model: NSManagedObjectModel, _ side: String, _ mapping: NSEntityMapping
    ) throws -> NSEntityDescription? {
        guard let name else { return nil }
        if let entity = model.entitiesByName[name] { return entity }
        let known = model.entitiesByName.keys.sorted().joined(separator: ", ")
        throw error(mapping, "the \(side) model has no entity “\(name)”; it has \(known)")
    }

    /// The error for an object that would become one of an abstract entity.
    static func abstractDestination(_ entity: NSEntityDescription, _ mapping: NSEntityMapping) -> NSError {
        error(
            mapping,
            "objects of “\(mapping.sourceEntityName ?? "")” would become objects of “\(entity.name ?? "")”, which is abstract "
                + "in the destination model",
            suggestion: "Map them to a subentity of it.")
    }

    private static func error(
        _ mapping: NSEntityMapping, _ reason: String,
        suggestion: String = "Make the mapping model anew for these versions of the model."
    ) -> NSError {
        StoreError.make(
            CoreDataErrorCode.migration,
            "The mapping model does not fit the models: in the entity mapping “\(mapping.name ?? "")”, \(reason).",
            suggestion: suggestion, userInfo: ["entityMapping": mapping.name ?? "", "reason": reason])
    }
}
