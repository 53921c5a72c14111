import CoreData

/// The made-up values that a type is decoded from.
///
/// No two texts or identifiers are the same, nor the first hundred numbers, so that a value shows which key it came
/// from. Each is greater than those before it, so that a type that requires an order, such as `start <= end`, accepts
/// them. A type gets the same values each time that it is decoded.
final class MadeUp {
    /// Whether optional properties have values, Boolean ones are true, and words begin with capitals: what a model
    /// computes from its properties shows in the difference.
    let isFull: Bool
    private var count = 0

    init(isFull: Bool = false) { self.isFull = isFull }

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

    /// Small enough for every type of integer, and for a percentage: from the hundredth value on, always the same.
    var integer: Int { min(next, 100) }

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
