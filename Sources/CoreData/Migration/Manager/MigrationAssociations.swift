/// Records which source object became which destination object, by entity mapping.
///
/// Saved objects are identified by their keys and need not stay in memory; unsaved objects are identified by
/// themselves.
final class MigrationAssociations {
    // Confined to the migration's thread.
    private let source: NSManagedObjectContext
    private let destination: NSManagedObjectContext
    private var byMapping: [String: AssociatedObjects] = [:]
    /// The mapping that was used last, which is usually the next one, too.
    private var last: (name: String, objects: AssociatedObjects)?
    /// The number of pairs that are identified by their objects.
    private(set) var liveCount = 0

    init(source: NSManagedObjectContext, destination: NSManagedObjectContext) {
        (self.source, self.destination) = (source, destination)
    }

    private func objects(_ mapping: String) -> AssociatedObjects? {
        if let last, last.name == mapping { return last.objects }
        guard let found = byMapping[mapping] else { return nil }
        last = (mapping, found)
        return found
    }

    func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        liveCount += 1
        if let known = objects(mapping) { return known.live.add(source, destination) }
        let new = AssociatedObjects()
        new.live.add(source, destination)
        byMapping[mapping] = new
    }

    /// Identifies objects that have been saved by their keys.
    func settle() {
        liveCount = 0
        for objects in byMapping.values {
            objects.settle()
            liveCount += objects.live.count
        }
    }

    /// The destination objects of source objects; for `nil`, all that the mapping made.
    func destinations(mapping: String, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let objects = objects(mapping) else { return [] }
        guard let sources else {
            return objects.settledDestinations.map { destination.objectOrFault($0) }
                + objects.live.made.filter { !objects.settled.haveDestination($0.identifier) }
        }
        return sources.flatMap { destinations(mapping: mapping, of: $0.identifier, $0) }
    }

    /// The destination objects of a source object.
    ///
    /// - Parameters:
    ///   - mapping: the name of the entity mapping.
    ///   - identifier: the source object's ID.
    ///   - object: the object, if it is in memory.
    /// - Returns: the destination objects; empty if the mapping made none of it.
    func destinations(
        mapping: String, of identifier: NSManagedObjectID, _ object: NSManagedObject?
    ) -> [NSManagedObject] {
        guard let objects = objects(mapping) else { return [] }
        let live = object.map { objects.live.destinations(of: $0) } ?? []
        if objects.settled.isEmpty { return live }
        return identifiers(mapping: mapping, of: identifier).map { destination.objectOrFault($0) } + live
    }

    /// The IDs of a source object's saved destination objects.
    func identifiers(mapping: String, of identifier: NSManagedObjectID) -> [NSManagedObjectID] {
        objects(mapping)?.settled.flatMap { $0.destinations(of: identifier) } ?? []
    }

    /// The source objects of destination objects; for `nil`, all that the mapping processed.
    func sources(mapping: String, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
        guard let objects = objects(mapping) else { return [] }
        guard let destinations else {
            return objects.settledSources.map { source.objectOrFault($0) }
                + objects.live.order.filter { !objects.settled.haveSource($0.identifier) }
        }
        return destinations.flatMap { object in
            objects.settled.flatMap { $0.sources(of: object.identifier).map { source.objectOrFault($0) } }
                + objects.live.sources(of: object)
        }
    }

    /// The keys of a mapping's saved objects.
    func keyPairs(mapping: String) -> [KeyPairs] { objects(mapping)?.settled ?? [] }

    /// The destination objects of a mapping that have not been saved.
    func made(mapping: String) -> [NSManagedObject] { objects(mapping)?.live.made ?? [] }
}

extension KeyColumn {
    /// Every key once, in order of first occurrence.
    fileprivate var firstKeys: [Int64] { keys.indices.filter(isFirst).map { keys[$0] } }
}

extension Collection<KeyPairs> {
    /// Whether any of the lists has an object as a destination.
    func haveDestination(_ identifier: NSManagedObjectID) -> Bool { contains { !$0.sources(of: identifier).isEmpty } }

    /// Whether any of the lists has an object as a source.
    func haveSource(_ identifier: NSManagedObjectID) -> Bool { contains { !$0.destinations(of: identifier).isEmpty } }
}

/// The pairs of one entity mapping.
private final class AssociatedObjects {
    var live = LivePairs()
    /// A list for each pair of entities.
    private(set) var settled: [KeyPairs] = []

    /// Every destination object once, even if objects of several entities became it.
    var settledDestinations: [NSManagedObjectID] {
        settled.indices.flatMap { index in
            settled[index].destinations.firstKeys.map(settled[index].destination.identifier)
                .filter { !settled[..<index].haveDestination($0) }
        }
    }

    /// Every source object once, even if it became objects of several entities.
    var settledSources: [NSManagedObjectID] {
        settled.indices.flatMap { index in
            settled[index].sources.firstKeys.map(settled[index].source.identifier)
                .filter { !settled[..<index].haveSource($0) }
        }
    }

    func settle() {
        guard live.count > 0 else { return }
        var rest = LivePairs()
        for source in live.order {
            for destination in live.destinations(of: source) {
                if !append(source.identifier, destination.identifier) { rest.add(source, destination) }
            }
        }
        live = rest
        for index in settled.indices { settled[index].index() }
    }

    private func append(_ source: NSManagedObjectID, _ destination: NSManagedObjectID) -> Bool {
        let known = settled.firstIndex { $0.source.holds(source) && $0.destination.holds(destination) }
        if let known {
            settled[known].append(source: source.key, destination: destination.key)
            return true
        }
        guard let from = KeyPairs.Side(source), let to = KeyPairs.Side(destination) else { return false }
        var pairs = KeyPairs(source: from, destination: to)
        pairs.append(source: source.key, destination: destination.key)
        settled.append(pairs)
        return true
    }
}

/// Pairs of objects in memory.
private struct LivePairs {
    /// The first partner of an object, and the others. Usually there is only one, which needs no array.
    private struct Partners {
        var first: [ObjectIdentifier: NSManagedObject] = [:]
        var others: [ObjectIdentifier: [NSManagedObject]] = [:]

        /// Adds a partner, and returns whether it is the first one.
        mutating func add(_ partner: NSManagedObject, of object: NSManagedObject) -> Bool {
            let key = ObjectIdentifier(object)
            guard first.updateValue(first[key] ?? partner, forKey: key) != nil else { return true }
            others[key, default: []].append(partner)
            return false
        }

        func partners(of object: NSManagedObject) -> [NSManagedObject] {
            guard let first = first[ObjectIdentifier(object)] else { return [] }
            return [first] + (others[ObjectIdentifier(object)] ?? [])
        }
    }

    private var destinations = Partners()
    private var sources = Partners()
    private(set) var count = 0
    private(set) var order: [NSManagedObject] = []
    /// Every destination object once, in the order in which they were made.
    private(set) var made: [NSManagedObject] = []

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        count += 1
        if destinations.add(destination, of: source) { order.append(source) }
        if sources.add(source, of: destination) { made.append(destination) }
    }

    func destinations(of source: NSManagedObject) -> [NSManagedObject] { destinations.partners(of: source) }

    func sources(of destination: NSManagedObject) -> [NSManagedObject] { sources.partners(of: destination) }
}
