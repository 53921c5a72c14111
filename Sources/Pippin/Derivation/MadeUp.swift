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
