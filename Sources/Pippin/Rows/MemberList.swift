import CoreData

/// What a relationship leads to, by number: models of a type, or the identifiers of references.
protocol MemberList: AnyObject {
    /// One of them, as a value of its type; nil for another type.
    func member<Value: Decodable>(_ number: Int, as type: Value.Type) throws -> Value?
    /// Some that follow each other, as an array; nil for a value that is no array of them.
    func array<Value>(_ numbers: Range<Int>, as type: Value.Type) -> Value?
}

/// Models that are finished.
final class FinishedModels<Model: CoreModel>: MemberList {
    private let models: [Model]

    init(_ models: [Model]) { self.models = models }

    func member<Value: Decodable>(_ number: Int, as type: Value.Type) -> Value? {
        guard Value.self == Model.self else { return nil }
        // The same type, as was just found out: a cast would look it up once more, slowly.
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

/// What one relationship of several rows leads to.
struct Members {
    /// Of each row, in the order of the rows: a part of `numbers`, or of the list itself where each of its members is in one row only.
    private(set) var ranges: ContiguousArray<Range<Int>>
    private(set) var numbers: ContiguousArray<Int>?
    let list: any MemberList

    /// Members that come row after row, each for one of them.
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

    /// All of a row as an array; nil for a value that is no array of models.
    func array<Value>(of row: Int, as type: Value.Type) -> Value? {
        numbers == nil ? list.array(ranges[row], as: type) : nil
    }
}
