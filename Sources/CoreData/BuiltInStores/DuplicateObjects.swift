import Foundation

extension StoreDocument {
    /// Gives objects that have the number of an earlier one, in a damaged file, numbers that none has. References lead
    /// to the first.
    ///
    /// - Returns: how many there are.
    package mutating func renumberDuplicates() -> Int {
        var known: Set<Int64> = []
        let duplicates = objects.indices.filter { !known.insert(objects[$0].key).inserted }
        guard var key = known.max() else { return 0 }
        for index in duplicates {
            repeat { key = key < NSManagedObjectID.greatestKey - 1 ? key + 1 : 1 } while known.contains(key)
            known.insert(key)
            objects[index].key = key
        }
        return duplicates.count
    }
}
