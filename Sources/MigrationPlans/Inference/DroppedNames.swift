import CompactCollections

/// The parts of the source that an inferred mapping ignores, by the source's names: properties that start with new
/// values although the destination has one of the same name.
package struct DroppedNames: Equatable, Sendable {
    package var entities: Set<String> = []
    package var properties: [String: Set<String>] = [:]

    package init() {}

    package mutating func insert(_ property: String, of entity: String) {
        properties[entity, default: []].insert(property)
    }

    package func contains(_ property: String, of entity: String?) -> Bool {
        entity.flatMap { properties[$0]?.contains(property) } ?? false
    }
}
