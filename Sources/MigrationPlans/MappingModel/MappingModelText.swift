import CompactCollections
import Foundation
import PredicateFormat

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
