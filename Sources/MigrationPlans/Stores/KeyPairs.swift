import CoreDataModel

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
    /// The positions in the order of their keys, if that is another order: in runs of successive positions, each at
    /// least twice as long as the next one, so that a further portion of keys is not merged with all that came before.
    private var runs: [[Int32]] = []
    /// How many positions the runs have.
    private var indexed = 0

    mutating func append(_ key: Int64) {
        if let last = keys.last, key <= last {
            if key < last { isAscending = false }
            hasRepetitions = true
        }
        keys.append(key)
    }

    /// Sorts the positions appended since the last call.
    mutating func index() {
        guard !isAscending, indexed < keys.count else { return }
        var run = (Int32(indexed)..<Int32(keys.count)).sorted(by: precedes)
        indexed = keys.count
        while let last = runs.last, last.count < 2 * run.count {
            runs.removeLast()
            run = merged(last, run)
        }
        runs.append(run)
    }

    private func merged(_ first: [Int32], _ second: [Int32]) -> [Int32] {
        var merged: [Int32] = []
        merged.reserveCapacity(first.count + second.count)
        var next = second[...]
        for position in first {
            while let candidate = next.first, precedes(candidate, position) { merged.append(next.removeFirst()) }
            merged.append(position)
        }
        return merged + next
    }

    private func precedes(_ one: Int32, _ other: Int32) -> Bool {
        let (left, right) = (keys[Int(one)], keys[Int(other)])
        return left == right ? one < other : left < right
    }

    /// The positions of a key, ascending.
    func positions(of key: Int64) -> [Int] {
        if isAscending { return Array(Self.ranks(of: key, keys.count, { $0 }, keys)) }
        // The positions of a run come before those of the next one.
        return runs.flatMap { run in
            Self.ranks(of: key, run.count, { Int(run[$0]) }, keys).map { Int(run[$0]) }
        }
    }

    /// The ranks of a key in a list of positions that are ordered by their keys.
    private static func ranks(
        of key: Int64, _ count: Int, _ position: (Int) -> Int, _ keys: [Int64]
    ) -> Range<Int> {
        let first = firstRank(of: key, count, position, keys)
        var end = first
        while end < count, keys[position(end)] == key { end += 1 }
        return first..<end
    }

    private static func firstRank(of key: Int64, _ count: Int, _ position: (Int) -> Int, _ keys: [Int64]) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if keys[position(middle)] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether the key at a position does not occur before it.
    package func isFirst(_ position: Int) -> Bool { !hasRepetitions || firstPosition(of: keys[position]) == position }

    private func firstPosition(of key: Int64) -> Int? {
        if isAscending {
            let rank = Self.firstRank(of: key, keys.count, { $0 }, keys)
            return rank < keys.count && keys[rank] == key ? rank : nil
        }
        for run in runs {
            let rank = Self.firstRank(of: key, run.count, { Int(run[$0]) }, keys)
            if rank < run.count, keys[Int(run[rank])] == key { return Int(run[rank]) }
        }
        return nil
    }
}
