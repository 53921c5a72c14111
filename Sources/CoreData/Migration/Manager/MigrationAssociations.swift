/// Which source object became which destination object, by entity mapping.
struct MigrationAssociations {
    private struct Pairs {
        var destinations: [ObjectIdentifier: [NSManagedObject]] = [:]
        var sources: [ObjectIdentifier: [NSManagedObject]] = [:]
        var order: [NSManagedObject] = []
        /// Every destination object once, in the order in which they were made.
        var made: [NSManagedObject] = []
    }

    private var byMapping: [String: Pairs] = [:]

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        var pairs = byMapping[mapping] ?? Pairs()
        byMapping[mapping] = nil  // so that it is not copied
        let key = ObjectIdentifier(source)
        if pairs.destinations[key] == nil { pairs.order.append(source) }
        pairs.destinations[key, default: []].append(destination)
        let other = ObjectIdentifier(destination)
        if pairs.sources[other] == nil { pairs.made.append(destination) }
        pairs.sources[other, default: []].append(source)
        byMapping[mapping] = pairs
    }

    /// What source objects became; all that the mapping made for `nil`.
    func destinations(mapping: String, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let pairs = byMapping[mapping] else { return [] }
        guard let sources else { return pairs.made }
        return sources.flatMap { pairs.destinations[ObjectIdentifier($0)] ?? [] }
    }

    /// The objects that a mapping worked on, and what they became, once these are saved.
    func successions(mapping: String) -> [ObjectSuccession] {
        guard let pairs = byMapping[mapping] else { return [] }
        return pairs.order.flatMap { source in
            (pairs.destinations[ObjectIdentifier(source)] ?? []).map { destination in
                ObjectSuccession(
                    sourceEntity: source.entity.name ?? "", sourceKey: source.objectID.key,
                    entity: destination.entity.name ?? "", key: destination.objectID.key)
            }
        }
    }

    /// What destination objects were made of; all that the mapping worked on for `nil`.
    func sources(mapping: String, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
        guard let pairs = byMapping[mapping] else { return [] }
        guard let destinations else { return pairs.order }
        return destinations.flatMap { pairs.sources[ObjectIdentifier($0)] ?? [] }
    }
}
