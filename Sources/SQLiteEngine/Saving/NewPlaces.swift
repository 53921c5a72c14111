import SQLGeneration

/// The places of new objects in ordered relationships of objects that are also new: known before the rows are written,
/// so that each is inserted with its order key. It belongs to one save.
final class NewPlaces {
    // Only one thread uses a save, so checking its accesses for overlaps would find nothing.
    @exclusivity(unchecked) private var entries: [(destination: Int64, key: Int64)] = []
    @exclusivity(unchecked) private var isTaken: [Bool] = []
    /// The entry that comes next if rows are inserted in the order of their places, as usual.
    @exclusivity(unchecked) private var next = 0
    /// The entries by destination, once a row is out of order.
    @exclusivity(unchecked) private var indexes: [Int64: Int]?

    /// Adds the destinations of a new object.
    ///
    /// - Parameter order: all of them, in order.
    func add(_ order: [Int64]) {
        entries += OrderKeys.changes(order: order, existing: [:])
        isTaken += Array(repeating: false, count: order.count)
    }

    /// The order key with which a new row is inserted; nil for a row without a place.
    func take(_ destination: Int64) -> Int64? {
        if next < entries.count, entries[next].destination == destination {
            isTaken[next] = true
            next += 1
            return entries[next - 1].key
        }
        if indexes == nil {
            indexes = Dictionary(entries.indices.map { (entries[$0].destination, $0) }) { $1 }
        }
        guard let index = indexes?[destination], !isTaken[index] else { return nil }
        isTaken[index] = true
        next = index + 1
        return entries[index].key
    }

    /// The places that no new row has taken: those of rows that existed before.
    var left: [(destination: Int64, key: Int64)] { zip(entries, isTaken).filter { !$1 }.map(\.0) }
}
