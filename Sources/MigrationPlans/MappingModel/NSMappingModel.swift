import CoreDataModel
import Foundation
import PredicateFormat

/// How the objects of one version of a model become objects of another.
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
/// ```
open class NSMappingModel: NSObject {
    // Set up before a migration, and only read while one runs, on its thread.

    /// The entity mappings, in the order in which a migration carries them out.
    open var entityMappings: [NSEntityMapping]! = []

    /// The entity mappings by name.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The plan from which the model was inferred; `nil` for one that was read, made or changed by hand. An in-place
    /// migration needs only this.
    package var inferredPlan: MappingPlan? { inferred.flatMap { $0.text == text ? $0.plan : nil } }

    /// The plan, and the mapping model's text when it was made.
    private var inferred: (plan: MappingPlan, text: String)?

    /// Creates a mapping model without mappings.
    public override init() { super.init() }

    /// Creates the mapping model for an inferred plan.
    init(_ plan: MappingPlan, entityMappings: [NSEntityMapping]) {
        super.init()
        self.entityMappings = entityMappings
        inferred = (plan, text)
    }

    /// Whether the other object is a mapping model with the same content.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal mapping model.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return other === self || other.text == text
    }

    /// A hash of the names of the entity mappings.
    open override var hash: Int { (entityMappings ?? []).map(\.name).hashValue }

    /// Infers a mapping between two versions of a model.
    ///
    /// Entities and properties are matched by their renaming identifiers. These changes can be inferred: additions,
    /// removals and renamings; an attribute becoming optional or, with a default value, mandatory; one number type
    /// becoming another; a to-one relationship becoming to-many; a to-many relationship becoming ordered or unordered;
    /// entities and properties moving within a hierarchy or out of it.
    ///
    /// ```swift
    /// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    /// ```
    ///
    /// - Parameters:
    ///   - sourceModel: the version of the store.
    ///   - destinationModel: the version to migrate to.
    /// - Returns: the mapping model, with an entity mapping for each entity that stays, is added or is removed.
    /// - Throws: an error with code 134190 (`NSInferredMappingModelError`); its user info has the destination's
    ///   `entity` and `property` and the `reason`.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let plan = try MappingInference.plan(from: sourceModel, to: destinationModel)
        return NSMappingModel(
            plan, entityMappings: plan.entities.map { NSEntityMapping($0, from: sourceModel, to: destinationModel) })
    }
}

extension NSMappingModel {
    /// The mapping model as text, with a line for each entity and property mapping, for people and for comparisons.
    package var text: String {
        (entityMappings ?? []).map(\.text).joined(separator: "\n")
    }
}

extension NSEntityMapping {
    fileprivate var text: String {
        var lines = ["\(name ?? ""): \(sourceEntityName ?? "nothing") -> \(destinationEntityName ?? "nothing")"]
        if let policy = entityMigrationPolicyClassName { lines[0] += ", \(policy)" }
        if let sourceExpression { lines.append("  from \(sourceExpression)") }
        for property in (attributeMappings ?? []) + (relationshipMappings ?? []) {
            lines.append("  \(property.name ?? "") = \(property.valueExpression?.description ?? "default")")
        }
        return lines.joined(separator: "\n")
    }
}

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
