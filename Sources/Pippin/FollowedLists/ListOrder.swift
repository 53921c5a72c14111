import StoreSession

/// An order of models by values of their own on which stores and programs agree to the last byte. Pure.
struct ListOrder: Sendable {
    private struct Key: Sendable {
        let field: Int
        let ascending: Bool
    }

    private let keys: [Key]

    /// Whether no order was asked for.
    var isEmpty: Bool { keys.isEmpty }

    /// The order; nil if it uses anything but numbers, texts, dates and UUIDs of the models themselves.
    ///
    /// - Parameters:
    ///   - descriptors: the order.
    ///   - plan: the models.
    init?(_ descriptors: [NSSortDescriptor], of plan: EntityPlan) {
        var keys: [Key] = []
        for descriptor in descriptors {
            guard descriptor.isLexical, let name = descriptor.key,
                let field = plan.fields.firstIndex(where: { $0.name == name }),
                let kind = plan.record.attributeKinds[field]
            else { return nil }
            switch kind {
            case .decimal, .url, .data: return nil
            default: keys.append(Key(field: field, ascending: descriptor.ascending))
            }
        }
        self.keys = keys
    }

    /// The order of two models.
    ///
    /// - Parameters:
    ///   - one: the values of one model, by field.
    ///   - other: the values of the other.
    /// - Returns: the order; nil for values that stores order in their own ways.
    func compare(_ one: ContiguousArray<StoredValue>, _ other: ContiguousArray<StoredValue>) -> ComparisonResult? {
        for key in keys {
            guard let order = Self.compare(one[key.field], other[key.field]) else { return nil }
            if order != .orderedSame { return key.ascending ? order : order.reversed }
        }
        return .orderedSame
    }

    private static func compare(_ one: StoredValue, _ other: StoredValue) -> ComparisonResult? {
        switch (one, other) {
        case (.null, .null): return .orderedSame
        case (.null, _): return .orderedAscending
        case (_, .null): return .orderedDescending
        case (.integer(let one), .integer(let other)): return order(one, other)
        case (.double(let one), .double(let other)), (.date(let one), .date(let other)):
            return one.isNaN || other.isNaN ? nil : order(one, other)
        case (.string(let one), .string(let other)): return order(bytes: one.utf8, other.utf8)
        case (.uuid(let one), .uuid(let other)):
            return withUnsafeBytes(of: one.uuid) { one in
                withUnsafeBytes(of: other.uuid) { other in order(bytes: one, other) }
            }
        default: return nil
        }
    }

    private static func order<Value: Comparable>(_ one: Value, _ other: Value) -> ComparisonResult {
        one == other ? .orderedSame : one < other ? .orderedAscending : .orderedDescending
    }

    private static func order<Bytes: Sequence<UInt8>>(bytes one: Bytes, _ other: Bytes) -> ComparisonResult {
        if one.elementsEqual(other) { return .orderedSame }
        return one.lexicographicallyPrecedes(other) ? .orderedAscending : .orderedDescending
    }
}

extension ComparisonResult {
    fileprivate var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}

/// A list of models with the keys of their rows, as it was in one state of the stores.
struct ListSnapshot<Model: CoreModel>: Sendable {
    let models: [Model]
    /// The primary key of each model's row.
    let keys: ContiguousArray<Int64>
    let moment: StoresMoment
}

/// How a list became another one, by places.
struct ListEdit: Sendable, Equatable {
    /// The places in the former list of the models that are gone, ascending.
    var removals: [Int] = []
    /// The places of the new models, ascending.
    var insertions: [Int] = []
    /// The places in the new list of the models that stayed and have other values, ascending.
    var updates: [Int] = []
    /// The models that stayed and have another place relative to each other.
    var moves: [Move] = []

    struct Move: Sendable, Equatable {
        /// The place in the former list.
        let from: Int
        /// The place in the new list.
        let to: Int
    }

    var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && updates.isEmpty && moves.isEmpty }
}

/// Distinguishes one reading of an observation from every other.
final class ReadingMark: Sendable {}
