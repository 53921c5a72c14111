import StoreSession

/// The destinations of a relationship, by number: models of a type, or the identifiers of references.
protocol MemberList: AnyObject {
    /// One destination, as a value of its type; nil for another type.
    func member<Value: Decodable>(_ number: Int, as type: Value.Type) throws -> Value?
    /// Consecutive destinations as an array; nil for a type that is not an array of them.
    func array<Value>(_ numbers: Range<Int>, as type: Value.Type) -> Value?
}

/// Models that are finished.
final class FinishedModels<Model: CoreModel>: MemberList {
    private let models: [Model]

    init(_ models: [Model]) { self.models = models }

    func member<Value: Decodable>(_ number: Int, as type: Value.Type) -> Value? {
        guard Value.self == Model.self else { return nil }
        // The types are the same, as was just checked. A cast would look that up again, slowly.
        return unsafeBitCast(models[number], to: Value.self)
    }

    func array<Value>(_ numbers: Range<Int>, as type: Value.Type) -> Value? {
        guard Value.self == [Model].self else { return nil }
        return unsafeBitCast(Array(models[numbers]), to: Value.self)
    }
}

/// Identifiers that references hold.
final class ReferencedKeys: MemberList {
    private let keys: ContiguousArray<StoredValue>
    private let plan: EntityPlan

    init(_ keys: ContiguousArray<StoredValue>, of plan: EntityPlan) {
        self.keys = keys
        self.plan = plan
    }

    func member<Value: Decodable>(_ number: Int, as type: Value.Type) throws -> Value? {
        try Value(from: ValueDecoder(value: keys[number], entity: plan.name, key: plan.uidKey))
    }

    func array<Value>(_ numbers: Range<Int>, as type: Value.Type) -> Value? { nil }
}

/// The destinations of one relationship for several rows.
struct Members {
    /// The range of each row, in the order of the rows: in `numbers`, or in the list itself if each member belongs to
    /// one row only.
    private(set) var ranges: ContiguousArray<Range<Int>>
    private(set) var numbers: ContiguousArray<Int>?
    let list: any MemberList

    /// Members in the order of the rows, each for one row.
    init(_ ranges: ContiguousArray<Range<Int>>, of list: any MemberList) {
        (self.ranges, self.list) = (ranges, list)
    }

    /// Members that several rows may have.
    init(_ ranges: ContiguousArray<Range<Int>>, _ numbers: ContiguousArray<Int>, of list: any MemberList) {
        (self.ranges, self.numbers, self.list) = (ranges, numbers, list)
    }

    func count(of row: Int) -> Int { ranges[row].count }

    func member<Value: Decodable>(_ type: Value.Type, _ place: Int, of row: Int) throws -> Value? {
        let place = ranges[row].lowerBound + place
        return try list.member(numbers.map { $0[place] } ?? place, as: type)
    }

    /// All members of a row as an array; nil for a type that is not an array of models.
    func array<Value>(of row: Int, as type: Value.Type) -> Value? {
        numbers == nil ? list.array(ranges[row], as: type) : nil
    }
}
