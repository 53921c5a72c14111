import CompactCollections

/// The losses that a program permits when a store is migrated to its model, by names. Everything else is kept.
package struct ReconciliationRules: Equatable, Sendable {
    /// The store's entities that are removed with their rows.
    package var removedEntities: Set<String> = []
    /// The store's properties that are removed, by the program's entity; an element of a composite attribute as
    /// `address.street`.
    package var removed: [String: Set<String>] = [:]
    /// The program's properties that may hold less than the store's, by the program's entity.
    package var narrowed: [String: Set<String>] = [:]
    /// The uniqueness constraints that are removed, by the program's entity.
    package var releasedConstraints: [String: [[String]]] = [:]

    package init() {}

    func removes(_ property: String, of entity: String) -> Bool { removed[entity]?.contains(property) ?? false }

    func narrows(_ property: String, of entity: String) -> Bool { narrowed[entity]?.contains(property) ?? false }
}

/// Data in a store that a model would not keep.
package struct ModelLoss: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The model has no such property.
        case removed
        /// The values cannot be converted.
        case changed(from: String, to: String)
        /// The values can be converted, if they fit.
        case narrowed(from: String, to: String)
        /// The values are JSON, which gets columns, and may have parts that are none of these.
        case otherParts(NestedParts)
        /// The values are JSON, and those that are missing would become empty lists or dictionaries.
        case filledIn
        /// The model has a property or entity for which this is the former name: the store is newer.
        case renamedSince(String)
        /// Another entity of the store is renamed to this one's name.
        case replaced(by: String)
        /// The relationship leads to an entity that the rules remove.
        case destinationRemoved(String)
        /// The entity has a parent or children in the store, which a struct cannot have.
        case inherits
    }

    /// The entity's name in the store.
    package let entity: String
    /// The entity's name in the model; nil if it has none.
    package let modelEntity: String?
    /// The property's name in the store; nil for the whole entity.
    package let property: String?
    package let reason: Reason
}
