import CompactCollections
import CoreDataModel

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
}
