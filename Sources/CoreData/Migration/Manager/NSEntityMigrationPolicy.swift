import Foundation

/// Carries out an entity mapping: makes the destination objects, connects and checks them.
///
/// Subclass it, and name the subclass, with its module, as the mapping's `entityMigrationPolicyClassName`. The manager
/// makes one policy for each entity mapping of a migration, and calls, in this order:
///
/// 1. for each mapping in turn: `begin`, then `createDestinationInstances` for each source object, then
///   `endInstanceCreation`;
/// 2. when all objects exist, for each mapping: `createRelationships` for each destination object, then
///    `endRelationshipCreation`;
/// 3. for each mapping: `performCustomValidation`, then `end`.
///
/// An error thrown by one of them ends the migration.
open class NSEntityMigrationPolicy: NSObject, MigrationFunctionCalling {
    // Only used on the migration's thread.

    /// Creates a policy; the manager does so for each entity mapping.
    public override required init() { super.init() }

    /// Called before the first object of a mapping is migrated.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration manager.
    /// - Throws: the error of an override; it ends the migration.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes the destination objects for one source object: by default one, with the attributes that the mapping
    /// specifies.
    ///
    /// An override that makes objects itself must report them to the manager by
    /// `associate(sourceInstance:withDestinationInstance:for:)`.
    ///
    /// - Parameters:
    ///   - sInstance: the source object.
    ///   - mapping: the entity mapping.
    ///   - manager: the migration manager.
    /// - Throws: an error if the mapping's value for a property cannot be made, or the error of an override; it ends
    ///   the migration.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        // It may be abstract as long as there are no objects for it.
        guard !entity.isAbstract else { throw MappingCheck.abstractDestination(entity, mapping) }
        let destination = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        try manager.setAttributes(of: destination, from: sInstance, mapping: mapping, policy: self)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: destination, for: mapping)
    }

    /// Called when all destination objects of a mapping have been made.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration manager.
    /// - Throws: the error of an override; it ends the migration.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Connects one destination object: by default with the objects that the mapping specifies.
    ///
    /// - Parameters:
    ///   - dInstance: the destination object.
    ///   - mapping: the entity mapping.
    ///   - manager: the migration manager.
    /// - Throws: an error if a destination specified by the mapping cannot be found, or the error of an override; it
    ///   ends the migration.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let source = manager.sourceInstances(
            forEntityMappingName: mapping.name ?? "", destinationInstances: [dInstance]
        ).first
        try manager.setRelationships(of: dInstance, from: source, mapping: mapping, policy: self)
    }

    /// Called when all destination objects of a mapping have been connected.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration manager.
    /// - Throws: the error of an override; it ends the migration.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Checks the destination objects of a mapping beyond their model's rules, before they are saved.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration manager.
    /// - Throws: the error of an override; it ends the migration.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called at the end of a mapping.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration manager.
    /// - Throws: the error of an override; it ends the migration.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Calls a function that a value expression calls on `$entityPolicy`; by default there are none.
    ///
    /// - Parameters:
    ///   - name: the name of the function in the expression.
    ///   - arguments: the values of the arguments.
    /// - Returns: the function's result; `nil` for no value.
    /// - Throws: an error that names the function if there is none of that name, or the error of an override.
    open func callFunction(_ name: String, arguments: [Any?]) throws -> Any? {
        throw MigrationExpression.error(
            "the migration policy \(String(reflecting: type(of: self))) has no function “\(name)”; override "
                + "callFunction(_:arguments:) and answer it there")
    }
}

/// Finds the classes of migration policies by the names in mapping models.
enum MigrationPolicies {
    /// - Throws: an `NSError` that names the class and the mapping.
    static func policy(for mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else { return NSEntityMigrationPolicy() }
        let plain = name.split(separator: ".").last.map(String.init) ?? name
        let candidates = [name] + ManagedClasses.modules(for: plain).map { "\($0).\(plain)" }
        for candidate in candidates where candidate.contains(".") {
            if let type = NSClassFromString(candidate) as? NSEntityMigrationPolicy.Type { return type.init() }
        }
        throw NSError(
            domain: NSCocoaErrorDomain, code: CoreDataErrorCode.migration,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The entity mapping “\(mapping.name ?? "")” names the migration policy “\(name)”, "
                    + "and there is no such subclass of NSEntityMigrationPolicy; looked for "
                    + "\(candidates.joined(separator: ", ")).",
                NSLocalizedRecoverySuggestionErrorKey: "Name the class with its module: “App.\(plain)”.",
                "entityMapping": mapping.name ?? "", "entityMigrationPolicyClassName": name,
            ])
    }
}

/// An object whose methods the value expressions of mapping models call by name.
///
/// Without the Objective-C runtime a method cannot be found by its name. A subclass of `NSEntityMigrationPolicy` or
/// `NSMigrationManager` that is called by an expression like `FUNCTION($entityPolicy, "fullNameFrom:", $source.name)`
/// maps names to methods here:
///
/// ```swift
/// final class PersonPolicy: NSEntityMigrationPolicy {
///     override func callFunction(_ name: String, arguments: [Any?]) throws -> Any? {
///         switch name {
///         case "fullNameFrom:": fullName(from: arguments[0] as? String)
///         default: try super.callFunction(name, arguments: arguments)
///         }
///     }
/// }
/// ```
///
/// On Apple's platforms the same expressions call the methods directly, and this is not needed.
public protocol MigrationFunctionCalling: AnyObject {
    /// Calls a method by the name that a value expression uses.
    ///
    /// - Parameters:
    ///   - name: the method's Objective-C name, with a colon for each argument.
    ///   - arguments: the values, in order.
    /// - Returns: the result.
    /// - Throws: an error that names the function if the object has none of that name.
    func callFunction(_ name: String, arguments: [Any?]) throws -> Any?
}

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
