import CoreDataModel
import Foundation
import MigrationPlans
import StoreEngine

/// What the history's changes of an entity's objects become in a migration object by object: other entities, keys and
/// properties. Pure.
package struct EntityChanges {
    /// An entity that objects became.
    package struct Successor {
        package let number: Int
        package let layout: EntityLayout
        /// The properties whose values are taken unchanged, by the new names.
        package let sources: [String: String]
    }

    /// The entity's number in the former store.
    package let number: Int
    package let layout: EntityLayout
    /// The entity of objects of which nothing became: that of the entity's first mapping.
    package let usual: Successor
    /// All entities that objects became, by name.
    package let successors: [String: Successor]
    /// Which object became which.
    package let pairs: [KeyPairs]

    /// The entities of which something remains, in the order of their mappings.
    ///
    /// - Parameters:
    ///   - mapping: which object became which.
    ///   - stored: the numbers of the entities in the former store.
    ///   - made: the numbers of the entities in the new store.
    /// - Returns: a value for each entity of the source that the new store has successors of.
    /// - Throws: an error for a model that is not valid.
    package static func all(
        of mapping: ObjectMapping, numbered stored: [String: Int], numbered made: [String: Int]
    ) throws -> [EntityChanges] {
        let former = try mapping.source.compiledLayout().entityByName
        let present = try mapping.destination.compiledLayout().entityByName
        let mappings = mapping.model.entityMappings ?? []
        let pairs = Dictionary(grouping: mapping.pairs) { $0.source.layout.name }
        var known: Set<String> = []
        // A mapping may take objects of subentities, too, which no mapping names, and of which none may be left.
        let names =
            mappings.compactMap(\.sourceEntityName) + mapping.pairs.map(\.source.layout.name)
            + mappings.flatMap { $0.takenEntities(of: mapping.source) }
        return names.filter { known.insert($0).inserted }.compactMap { source in
            guard let number = stored[source], let layout = former[source] else { return nil }
            let pairs = pairs[source] ?? []
            var own = mappings.filter { $0.sourceEntityName == source }
            if own.isEmpty {
                own = mappings.filter { $0.sourceEntityName.flatMap { former[$0] }.map(layout.isKind) ?? false }
            }
            var successors: [String: Successor] = [:]
            var usual: Successor?
            for name in own.compactMap(\.destinationEntityName) + pairs.map(\.destination.layout.name)
            where successors[name] == nil {
                guard let number = made[name], let layout = present[name] else { continue }
                let sources = own.first { $0.destinationEntityName == name }?.sourceNames ?? [:]
                let successor = Successor(number: number, layout: layout, sources: sources)
                successors[name] = successor
                usual = usual ?? successor
            }
            guard let usual else { return nil }
            return EntityChanges(number: number, layout: layout, usual: usual, successors: successors, pairs: pairs)
        }
    }

    /// The conversion of masks of changed properties for objects that became those of an entity; it gives nil for a
    /// mask with properties that the source does not have.
    package func masks(for successor: Successor) -> (Data) -> Data? {
        let (before, now) = (HistoryProperties(layout), HistoryProperties(successor.layout))
        return { HistoryMask.converted($0, from: before, to: now) { successor.sources[$0] } }
    }
}

/// Converts the history's masks of changed properties from one version of an entity to the next.
package enum HistoryMask {
    /// A mask for the destination's properties.
    ///
    /// - Parameters:
    ///   - mask: the mask of the source's properties.
    ///   - former: the properties of the source.
    ///   - properties: the properties of the destination.
    ///   - source: the name of a destination's property in the source.
    /// - Returns: `nil` for a mask with properties that the source does not have.
    package static func converted(
        _ mask: Data, from former: HistoryProperties, to properties: HistoryProperties, source: (String) -> String?
    ) -> Data? {
        guard let changed = former.names(in: mask).map({ Set($0) }) else { return nil }
        return properties.mask(of: properties.names.filter { source($0).map(changed.contains) ?? false })
    }
}
