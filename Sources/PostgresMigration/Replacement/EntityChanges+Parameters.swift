import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import SQLMigration

// What becomes of the history's changes, as parameters of the statement that copies them.
extension EntityChanges {
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
                entities.append(Int32(successor.number))
            }
        }
        parameters.append(array: keys)
        parameters.append(array: new)
        parameters.append(array: entities)
    }

    /// Appends the entities, and their masks of changed properties before and after, as far as they differ.
    func appendMasks(_ masks: [Data], to parameters: inout PostgresParameters) {
        var (entities, old): ([Int32], [Data]) = ([], [])
        var new = PostgresArray(Data.type)
        for successor in successors.values {
            let converted = self.masks(for: successor)
            for mask in masks {
                let now = converted(mask)
                guard now != mask else { continue }
                entities.append(Int32(successor.number))
                old.append(mask)
                if let now { new.append(now) } else { new.appendNull() }
            }
        }
        parameters.append(array: entities)
        parameters.append(array: old)
        parameters.append(new)
    }
}
