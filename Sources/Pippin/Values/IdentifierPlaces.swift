/// Identifiers that were asked for, each once, with the place of its first occurrence.
struct IdentifierPlaces {
    private var places = NodePlaces()
    /// How many distinct identifiers there are.
    private(set) var count = 0
    /// The place of each identifier asked for.
    private(set) var asked: [Int] = []

    /// - Parameters:
    ///   - capacity: how many will be asked for.
    ///   - kind: the kind of the identifiers, if it is known.
    init(capacity: Int, _ kind: AttributeKind?) {
        asked.reserveCapacity(capacity)
        places.reserve(capacity, kind)
    }

    /// Adds an identifier.
    ///
    /// - Returns: whether it was not there before.
    mutating func add(_ key: RecordKey) -> Bool {
        let place = places.place(of: key, orPut: count)
        asked.append(place)
        guard place == count else { return false }
        count += 1
        return true
    }

    /// The place of an identifier; nil for one that was not asked for.
    func place(of key: RecordKey) -> Int? { places.place(of: key) }
}
