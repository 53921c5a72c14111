import StoreSession

/// The made-up values that a type is decoded from.
///
/// No two texts or identifiers are the same, nor the first hundred numbers, so that a value shows which key it came
/// from. Each is greater than those before it, so that a type that requires an order, such as `start <= end`, accepts
/// them. Only numbers with a fraction are all 1 at first, which most types accept. A type gets the same values each
/// time that it is decoded.
final class MadeUp {
    /// The numbers that are tried, one kind after the other, until a type accepts them.
    enum Numbers: CaseIterable {
        /// Each number that may have a fraction is 1.
        case ones
        /// They ascend, and are less than 1, as a part of a whole is.
        case fractions
        /// They ascend, and are whole.
        case wholes
    }

    let numbers: Numbers
    /// Whether optional properties have values, Boolean ones are true, and words begin with capitals: what a model
    /// computes from its properties shows in the difference.
    let isFull: Bool
    private var count = 0
    /// How many cases of each enumeration were handed out.
    private var turns: [ObjectIdentifier: Int] = [:]

    init(isFull: Bool = false, _ numbers: Numbers = .ones) {
        self.isFull = isFull
        self.numbers = numbers
    }

    private var next: Int {
        count += 1
        return count
    }

    /// A number with leading zeros, since texts are compared character by character.
    private var digits: String {
        let number = "\(next)"
        return String(repeating: "0", count: max(0, 6 - number.count)) + number
    }

    var flag: Bool { isFull }

    var string: String { (isFull ? "Made Up " : "made up ") + digits }

    /// Small enough for a percentage: from the hundredth value on, always the same, unless they must differ.
    func integer<Value: FixedWidthInteger>() -> Value { Value(clamping: numbers == .wholes ? next : min(next, 100)) }

    /// A number that may have a fraction.
    var fraction: Double {
        switch numbers {
        case .ones: return 1
        case .fractions:
            let number = Double(next)
            return number / (number + 1)
        case .wholes: return Double(next)
        }
    }

    /// The number of the case that an enumeration has: always the first, unless the values must differ.
    func turn(of type: Any.Type) -> Int {
        guard numbers != .ones else { return 0 }
        defer { turns[ObjectIdentifier(type), default: 0] += 1 }
        return turns[ObjectIdentifier(type)] ?? 0
    }

    func value(of kind: AttributeKind) -> Any {
        switch kind {
        case .date: Date(timeIntervalSinceReferenceDate: Double(next))
        case .uuid: uuid
        case .url: URL(fileURLWithPath: "/made-up/\(digits)")
        case .data: Data()
        case .decimal: Decimal(next)
        default: string
        }
    }

    private var uuid: UUID {
        let number = UInt32(truncatingIfNeeded: next).bigEndian
        return withUnsafeBytes(of: number) { bytes in
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3]))
        }
    }
}

/// Finds the field that a model's identifier comes from.
///
/// It is the one named `id`, or the one whose value the computed identifier is: in every model, not only in one that
/// was made up. A store finds a model by that field, and would take two models with the same value in it for one.
struct IdentifierField<Model: CoreModel> {
    let fields: [ProbedField]
    let names: [String]
    /// The numbers that the model accepts.
    let numbers: MadeUp.Numbers

    /// - Parameter prototype: a model that was decoded from the values of the fields.
    /// - Returns: the field's index.
    /// - Throws: ``PersistenceError/Code/notDerivable`` if the identifier is not the value of one property.
    func index(for prototype: Model) throws -> Int {
        if let index = names.firstIndex(of: "id") { return index }
        let key = Self.key(prototype.id)
        let indexes = fields.indices.filter { index in
            guard case .attribute = fields[index].kind, let key, let value = fields[index].value else { return false }
            return Self.key(value) == key
        }
        // The protocol takes one from the other.
        if let index = indexes.first(where: { names[$0] == "uid" }) { return index }
        guard let first = indexes.first else {
            if let id = Mirror(reflecting: prototype).children.first(where: { $0.label == "id" })?.value {
                throw refusal(
                    "it is not decoded: a `let` with a value keeps that value. Write `let id: \(type(of: id))`, or `var id` with the "
                        + "value.")
            }
            throw refusal(
                "it is none of the values that are coded (\(fields.map(\.key).joined(separator: ", "))). Return one of these "
                    + "from it, or name it in CodingKeys.")
        }
        var left = indexes
        let trials = [MadeUp(isFull: true, numbers), MadeUp(.fractions), MadeUp(.wholes)]
        // The further ones only tell several properties apart that had the same value.
        for (place, values) in trials.enumerated() where place == 0 || left.count > 1 {
            guard let other = try? Model(from: TypeProbe(Model.self, values)) else { continue }
            left = self.indexes(among: left, for: other)
            guard left.isEmpty else { continue }
            throw refusal(
                "it is the value of '\(names[first])' in some models only, and '\(other.id)' in another one that was made up, so that "
                    + "'\(names[first])' does not tell the models apart. Store the identifier, or return '\(names[first])' as it is."
            )
        }
        // Of several that cannot be told apart, the first. Each save checks whether it is the right one.
        return left.first ?? first
    }

    /// Those of some fields whose value is the identifier in a model.
    private func indexes(among indexes: [Int], for model: Model) -> [Int] {
        let values = Mirror(reflecting: model).children
        let identifier = Self.key(model.id)
        return indexes.filter { index in
            let property = values.first { $0.label == names[index] || $0.label == "_\(names[index])" }
            // What cannot be compared here is when a model is saved.
            guard let key = property.flatMap({ Self.key($0.value) }), let identifier else { return true }
            return key == identifier
        }
    }

    private func refusal(_ reason: String) -> PersistenceError {
        .notDerivable(type: "\(Model.self)", property: "id", reason: reason)
    }

    /// What an attribute would hold of a value, by which the store finds it; nil for no single value. A text with the
    /// digits of a number is not that number.
    private static func key(_ value: Any) -> RecordKey? {
        guard let value = value as? any Encodable, let stored = try? AttributeEncoder.comparable(value) else {
            return nil
        }
        return RecordKey(attributeValue: stored)
    }
}
