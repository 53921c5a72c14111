import CompactCollections
import CoreDataModel
import Foundation
import ModelFiles
import PredicateFormat

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
