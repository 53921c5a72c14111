import CompactCollections
import CoreDataModel
import Ordering

/// Which objects became which, by their keys in their stores: 16 bytes for each pair.
package struct KeyPairs {
    /// The common data of all objects of one side: together with a key, it makes an ID.
    package struct Side {
        package let layout: EntityLayout
        let store: StoreIdentity

        /// - Returns: `nil` for an object that is not identified by a key alone.
        package init?(_ identifier: NSManagedObjectID) {
            guard let store = identifier.storeIdentity, identifier.reference == nil else { return nil }
            (layout, self.store) = (identifier.layout, store)
        }

        package func identifier(_ key: Int64) -> NSManagedObjectID {
            NSManagedObjectID(layout: layout, store: store, key: key)
        }

        package func holds(_ identifier: NSManagedObjectID) -> Bool {
            layout === identifier.layout && store === identifier.storeIdentity
        }
    }

    package let source: Side
    package let destination: Side
    package private(set) var sources = KeyColumn()
    package private(set) var destinations = KeyColumn()

    package init(source: Side, destination: Side) { (self.source, self.destination) = (source, destination) }

    package var count: Int { sources.keys.count }

    package mutating func append(source: Int64, destination: Int64) {
        sources.append(source)
        destinations.append(destination)
    }

    /// Indexes the appended keys; it must be called before the first look-up.
    package mutating func index() {
        sources.index()
        destinations.index()
    }

    /// The destination objects of a source object.
    package func destinations(of identifier: NSManagedObjectID) -> [NSManagedObjectID] {
        guard source.holds(identifier) else { return [] }
        return sources.positions(of: identifier.key).map { destination.identifier(destinations.keys[$0]) }
    }

    /// The source objects of a destination object.
    package func sources(of identifier: NSManagedObjectID) -> [NSManagedObjectID] {
        guard destination.holds(identifier) else { return [] }
        return destinations.positions(of: identifier.key).map { source.identifier(sources.keys[$0]) }
    }
}

/// A list of keys with fast look-up. Keys in ascending order, as is usual, need no index.
package struct KeyColumn {
    package private(set) var keys: [Int64] = []
    private var isAscending = true
    private var hasRepetitions = false
    /// The positions in the order of their keys, if that is another order.
    private var order: [Int32] = []

    mutating func append(_ key: Int64) {
        if let last = keys.last, key <= last {
            if key < last { isAscending = false }
            hasRepetitions = true
        }
        keys.append(key)
    }

    /// Sorts the positions appended since the last call.
    mutating func index() {
        guard !isAscending, order.count < keys.count else { return }
        let new = (Int32(order.count)..<Int32(keys.count)).sorted(by: precedes)
        var merged: [Int32] = []
        merged.reserveCapacity(keys.count)
        var next = new[...]
        for position in order {
            while let first = next.first, precedes(first, position) { merged.append(next.removeFirst()) }
            merged.append(position)
        }
        order = merged + next
    }

    private func precedes(_ one: Int32, _ other: Int32) -> Bool {
        let (left, right) = (keys[Int(one)], keys[Int(other)])
        return left == right ? one < other : left < right
    }

    /// The positions of a key, ascending.
    func positions(of key: Int64) -> [Int] {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[position(middle)] < key { low = middle + 1 } else { high = middle }
        }
        var found: [Int] = []
        while low < keys.count, keys[position(low)] == key {
            found.append(position(low))
            low += 1
        }
        return found
    }

    private func position(_ rank: Int) -> Int { isAscending ? rank : Int(order[rank]) }

    /// Whether the key at a position does not occur before it.
    package func isFirst(_ position: Int) -> Bool { !hasRepetitions || positions(of: keys[position]).first == position }
}
