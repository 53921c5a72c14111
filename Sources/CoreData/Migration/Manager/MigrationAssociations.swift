/// Which source object became which destination object, by entity mapping.
struct MigrationAssociations {
    /// The first partner of an object, and the others: mostly there is one, which needs no array of its own.
    private struct Partners {
        var first: [ObjectIdentifier: NSManagedObject] = [:]
        var others: [ObjectIdentifier: [NSManagedObject]] = [:]

        /// Returns whether the partner is the first one.
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

    private struct Pairs {
        var destinations = Partners()
        var sources = Partners()
        var order: [NSManagedObject] = []
        /// Every destination object once, in the order in which they were made.
        var made: [NSManagedObject] = []
    }

    private var byMapping: [String: Pairs] = [:]

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
        var pairs = byMapping[mapping] ?? Pairs()
        byMapping[mapping] = nil  // so that it is not copied
        if pairs.destinations.add(destination, of: source) { pairs.order.append(source) }
        if pairs.sources.add(source, of: destination) { pairs.made.append(destination) }
        byMapping[mapping] = pairs
    }

    /// What source objects became; all that the mapping made for `nil`.
    func destinations(mapping: String, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let pairs = byMapping[mapping] else { return [] }
        guard let sources else { return pairs.made }
        return sources.flatMap { pairs.destinations.partners(of: $0) }
    }

    /// The objects that a mapping worked on, and what they became, once these are saved.
    func successions(mapping: String) -> [ObjectSuccession] {
        guard let pairs = byMapping[mapping] else { return [] }
        return pairs.order.flatMap { source in
            pairs.destinations.partners(of: source).map { destination in
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
        return destinations.flatMap { pairs.sources.partners(of: $0) }
    }
}
