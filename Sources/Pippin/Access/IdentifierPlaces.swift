import CoreData

/// Identifiers that were asked for, each once, by the place where it came first. Each kind has a table of its own, which the compiler knows: one
/// of the models' own type would look up how to compare at each step.
struct IdentifierPlaces {
    private var texts: [String: Int] = [:]
    private var numbers: [Int64: Int] = [:]
    private var uuids: [UUID: Int] = [:]
    private var others: [RecordKey: Int] = [:]
    /// How many differ.
    private(set) var count = 0
    /// For each that was asked for, its place.
    private(set) var asked: [Int] = []

    /// - Parameter capacity: how many will be asked for.
    init(capacity: Int) { asked.reserveCapacity(capacity) }

    /// Adds one.
    ///
    /// - Returns: whether it is the first of its kind.
    mutating func add(_ key: RecordKey) -> Bool {
        if asked.isEmpty {
            // The others are of the same kind.
            switch key {
            case .string: texts.reserveCapacity(asked.capacity)
            case .integer: numbers.reserveCapacity(asked.capacity)
            case .uuid: uuids.reserveCapacity(asked.capacity)
            default: others.reserveCapacity(asked.capacity)
            }
        }
        let place =
            switch key {
            case .string(let text): Self.place(text, in: &texts, next: count)
            case .integer(let number): Self.place(number, in: &numbers, next: count)
            case .uuid(let uuid): Self.place(uuid, in: &uuids, next: count)
            default: Self.place(key, in: &others, next: count)
            }
        asked.append(place)
        guard place == count else { return false }
        count += 1
        return true
    }

    /// The place of one that was asked for.
    func place(of key: RecordKey) -> Int? {
        switch key {
        case .string(let text): texts[text]
        case .integer(let number): numbers[number]
        case .uuid(let uuid): uuids[uuid]
        default: others[key]
        }
    }

    @inline(__always)
    private static func place<Key: Hashable>(_ key: Key, in places: inout [Key: Int], next: Int) -> Int {
        // One search, whether it is there or not.
        func first(_ place: inout Int) -> Int { place }
        return first(&places[key, default: next])
    }
}
