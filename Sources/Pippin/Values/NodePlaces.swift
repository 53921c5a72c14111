import Foundation

/// The nodes of an entity by identifier. Integers and texts, which most identifiers are, have tables of their own,
/// which are faster than a dictionary.
struct NodePlaces {
    private var numbers = NumberPlaces()
    private var texts = TextPlaces()
    private var others: [RecordKey: Int] = [:]
    /// Dates by their microseconds.
    private var microseconds: [Double: (place: Int, date: Date)] = [:]
    /// Two dates that are the same in microseconds; nil for none.
    private(set) var closeDates: (Date, Date)?

    /// The place of a key, or of a date that is the same in microseconds: servers keep no more precision, and return
    /// slightly different dates from those asked for.
    func place(of key: RecordKey) -> Int? {
        switch key {
        case .integer(let number): return numbers.place(of: number)
        case .string(let text):
            if let hash = TextPlaces.hash(of: text) { return texts.place(of: text, hash) }
            return others[key]
        case .date(let date): return others[key] ?? microseconds[Self.microseconds(date)]?.place
        default: return others[key]
        }
    }

    /// The place of a key; a key without one gets the given place.
    mutating func place(of key: RecordKey, orPut new: Int) -> Int {
        switch key {
        case .integer(let number): return numbers.place(of: number, orPut: new)
        case .string(let text):
            if let hash = TextPlaces.hash(of: text) { return texts.place(of: text, hash, orPut: new) }
        case .date(let date):
            if others[key] == nil,
                let close = microseconds.updateValue((new, date), forKey: Self.microseconds(date))
            {
                closeDates = (close.date, date)
            }
        default: break
        }
        return Self.taken(&others[key, default: new])
    }

    /// Stores the place unless there is one, with one look-up.
    private static func taken(_ place: inout Int) -> Int { place }

    private static func microseconds(_ date: Date) -> Double {
        (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
    }

    /// Makes room for more keys of a kind.
    mutating func reserve(_ count: Int, _ kind: AttributeKind?) {
        switch kind {
        case .integer16, .integer32, .integer64: numbers.reserve(count)
        case .string: texts.reserve(count)
        default: others.reserveCapacity(others.count + count)
        }
    }
}
