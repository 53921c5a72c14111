import CoreDataModel
import Foundation
import ModelFiles
import PredicateFormat

/// How the objects of a source entity become objects of a destination entity.
open class NSEntityMapping: NSObject {
    // Set up before a migration, and only read while one runs, on its thread.

    /// The name, unique within the mapping model: expressions find the mapping by it.
    ///
    /// By default, the names of both entities with an arrow between them.
    open var name: String! {
        get {
            if storedName == nil, sourceEntityName == nil, destinationEntityName == nil { return nil }
            return storedName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")"
        }
        set { storedName = newValue }
    }
    private var storedName: String?

    /// The operation on the objects.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType

    /// The entity whose objects are migrated; `nil` for an added entity.
    open var sourceEntityName: String?

    /// The version hash that the source entity had when the mapping was made.
    open var sourceEntityVersionHash: Data?

    /// The entity that the objects become; `nil` for a removed entity.
    open var destinationEntityName: String?

    /// The version hash that the destination entity had when the mapping was made.
    open var destinationEntityVersionHash: Data?

    /// How the attributes get their values, in the order in which they are set.
    open var attributeMappings: [NSPropertyMapping]?

    /// How the relationships get their objects, in the order in which they are set.
    open var relationshipMappings: [NSPropertyMapping]?

    /// The expression for the source objects; `nil` for all objects of the source entity.
    open var sourceExpression: NSExpression?

    /// The name of the class, with its module, of the `NSEntityMigrationPolicy` that does the work; `nil` for the
    /// default one.
    open var entityMigrationPolicyClassName: String?

    /// Your own information about the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Whether the other object maps the same entities in the same way.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal mapping.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        if other === self { return true }
        return name == other.name && mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
            && sourceEntityVersionHash == other.sourceEntityVersionHash
            && destinationEntityName == other.destinationEntityName
            && destinationEntityVersionHash == other.destinationEntityVersionHash
            && attributeMappings == other.attributeMappings && relationshipMappings == other.relationshipMappings
            && sourceExpression == other.sourceExpression
            && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
            && NSDictionary(dictionary: userInfo ?? [:]) == NSDictionary(dictionary: other.userInfo ?? [:])
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }
}

extension NSEntityMapping {
    /// The source properties whose values destination properties take unchanged, by the names of the latter.
    package var sourceNames: [String: String] {
        var names: [String: String] = [:]
        for property in (attributeMappings ?? []) + (relationshipMappings ?? []) {
            guard let name = property.name, let expression = property.valueExpression else { continue }
            names[name] = Self.sourceKey(expressionTree(of: expression))
        }
        return names
    }

    /// `name` in `$source.name`, in `FUNCTION($source, "valueForKey:", "name")`, and in a manager's function of one of
    /// these.
    private static func sourceKey(_ tree: ExpressionTree) -> String? {
        switch tree {
        case .path(from: .variable(NSMigrationSourceObjectKey), let keys) where keys.count == 1: return keys[0]
        case .call(on: .variable(NSMigrationSourceObjectKey), name: "valueForKey:", arguments: let arguments):
            guard case .constant(.string(let key))? = arguments.first else { return nil }
            return key
        case .call(on: .variable(NSMigrationManagerKey), name: _, arguments: let arguments):
            return arguments.last.flatMap(sourceKey)
        default: return nil
        }
    }

    /// The source's entities whose objects the mapping takes: the one that it names, and those that its source
    /// expression fetches, with their subentities if it asks for these.
    package func takenEntities(of source: NSManagedObjectModel) -> [String] {
        var names = [sourceEntityName].compactMap { $0 }
        sourceExpression.map(expressionTree(of:))?.forEach { part in
            guard case .call(.variable(NSMigrationManagerKey), let function, let arguments) = part,
                case .constant(.string(let name))? = arguments.first
            else { return }
            switch function {
            case MigrationFunction.fetchRequest: names.append(name)
            case MigrationFunction.fetchRequestWithSubentities:
                guard arguments.count > 2, case .constant(let includes) = arguments[2],
                    (includes.any as? NSNumber)?.boolValue ?? false, let entity = source.entitiesByName[name]
                else { return names.append(name) }
                names += entity.selfAndDescendants.compactMap(\.name)
            default: return
            }
        }
        return names
    }
}

/// How a property of a destination object gets its value.
open class NSPropertyMapping: NSObject {
    // Set up before a migration, and only read while one runs, on its thread.

    /// The name of the property in the destination entity.
    open var name: String?

    /// The expression for the value; `nil` leaves the property's default.
    ///
    /// The expression may use the variables `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping`
    /// and `$entityPolicy`, and call methods of their objects: `FUNCTION($manager,
    /// "destinationInstancesForEntityMappingNamed:sourceInstances:", "BookToBook", $source.books)`.
    open var valueExpression: NSExpression? { didSet { keepsDefault = false } }

    /// Whether the property keeps its default if the expression has no value, as lightweight migration does in SQL.
    package var keepsDefault = false

    /// Your own information about the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Whether the other object maps a property of the same name in the same way.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal mapping.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        if other === self { return true }
        return name == other.name && valueExpression == other.valueExpression && keepsDefault == other.keepsDefault
            && NSDictionary(dictionary: userInfo ?? [:]) == NSDictionary(dictionary: other.userInfo ?? [:])
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }
}
