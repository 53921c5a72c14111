/// The nodes of an entity by identifier. Integers and texts, which most identifiers are, have tables of their own,
/// which are faster than a dictionary.
struct NodePlaces {
    private var numbers = NumberPlaces()
    private var texts = TextPlaces()
    private var others: [RecordKey: Int] = [:]

    func place(of key: RecordKey) -> Int? {
        switch key {
        case .integer(let number): return numbers.place(of: number)
        case .string(let text):
            if let hash = TextPlaces.hash(of: text) { return texts.place(of: text, hash) }
            return others[key]
        default: return others[key]
        }
    }

    /// The place of a key; a key without one gets the given place.
    mutating func place(of key: RecordKey, orPut new: Int) -> Int {
        switch key {
        case .integer(let number): return numbers.place(of: number, orPut: new)
        case .string(let text):
            if let hash = TextPlaces.hash(of: text) { return texts.place(of: text, hash, orPut: new) }
        default: break
        }
        return Self.taken(&others[key, default: new])
    }

    /// Stores the place unless there is one, with one look-up.
    private static func taken(_ place: inout Int) -> Int { place }

    /// Makes room for more keys of a kind.
    mutating func reserve(_ count: Int, _ kind: AttributeKind?) {
        switch kind {
        case .integer16, .integer32, .integer64: numbers.reserve(count)
        case .string: texts.reserve(count)
        default: others.reserveCapacity(others.count + count)
        }
    }
}
