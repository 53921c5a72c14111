import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import PostgresEngine
import SQLMigration
import StoreEngine

/// What the history's changes of an entity's objects become in a migration object by object: other entities, keys and
/// properties. Pure.
struct EntityChanges {
    /// An entity that objects became.
    struct Successor {
        let number: Int32
        let layout: EntityLayout
        /// The properties whose values are taken unchanged, by the new names.
        let sources: [String: String]
    }

    /// The entity's number in the former store.
    let number: Int32
    let layout: EntityLayout
    /// The entity of objects of which nothing became: that of the entity's first mapping.
    let usual: Successor
    /// All entities that objects became, by name.
    private let successors: [String: Successor]
    private let pairs: [KeyPairs]

    /// The entities of which something remains, in the order of their mappings.
    ///
    /// - Parameters:
    ///   - mapping: which object became which.
    ///   - former: the source's entities.
    ///   - present: the destination's entities.
    ///   - stored: the former store, with the numbers of its entities.
    ///   - made: the new store.
    /// - Returns: a value for each entity of the source that the new store has successors of.
    static func all(
        of mapping: ObjectMapping, from former: [String: EntityLayout], to present: [String: EntityLayout],
        _ stored: DatabaseOpening.StoredStore, _ made: DatabaseOpening.StoredStore
    ) -> [EntityChanges] {
        let mappings = mapping.model.entityMappings ?? []
        var known: Set<String> = []
        return mappings.compactMap(\.sourceEntityName).filter { known.insert($0).inserted }.compactMap { source in
            guard let number = stored.numbers[source], let layout = former[source] else { return nil }
            let own = mappings.filter { $0.sourceEntityName == source }
            let pairs = mapping.pairs.filter { $0.source.layout.name == source }
            var successors: [String: Successor] = [:]
            var usual: Successor?
            for name in own.compactMap(\.destinationEntityName) + pairs.map(\.destination.layout.name)
            where successors[name] == nil {
                guard let number = made.numbers[name], let layout = present[name] else { continue }
                let sources = own.first { $0.destinationEntityName == name }?.sourceNames ?? [:]
                let successor = Successor(number: Int32(number), layout: layout, sources: sources)
                successors[name] = successor
                usual = usual ?? successor
            }
            guard let usual else { return nil }
            return EntityChanges(
                number: Int32(number), layout: layout, usual: usual, successors: successors, pairs: pairs)
        }
    }

    /// Appends the keys of objects, and the keys and entities of what they became; of several, the first.
    func appendObjects(to parameters: inout PostgresParameters) {
        var (keys, new, entities): ([Int64], [Int64], [Int32]) = ([], [], [])
        var known: Set<Int64> = []
        for list in pairs {
            guard let successor = successors[list.destination.layout.name] else { continue }
            for index in 0..<list.count where list.sources.isFirst(index) {
                let key = list.sources.keys[index]
                guard pairs.count == 1 || known.insert(key).inserted else { continue }
                keys.append(key)
                new.append(list.destinations.keys[index])
                entities.append(successor.number)
            }
        }
        parameters.append(array: keys)
        parameters.append(array: new)
        parameters.append(array: entities)
    }

    /// Appends the entities, and their masks of changed properties before and after, as far as they differ.
    func appendMasks(_ masks: [Data], to parameters: inout PostgresParameters) {
        let before = HistoryProperties(layout)
        var (entities, old): ([Int32], [Data]) = ([], [])
        var new = PostgresArray(Data.type)
        for successor in successors.values {
            let now = HistoryProperties(successor.layout)
            for mask in masks {
                let converted = HistoryMask.converted(mask, from: before, to: now) { successor.sources[$0] }
                guard converted != mask else { continue }
                entities.append(successor.number)
                old.append(mask)
                if let converted { new.append(converted) } else { new.appendNull() }
            }
        }
        parameters.append(array: entities)
        parameters.append(array: old)
        parameters.append(new)
    }
}
