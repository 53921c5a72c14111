import PredicateFormat

/// Makes random predicates of the whole language, the same for the same seed.
struct RandomTrees {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    mutating func number(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }

    // MARK: Trees

    mutating func predicate(depth: Int) -> PredicateTree {
        switch depth > 0 ? number(below: 8) : 7 {
        case 0: return .constant(number(below: 2) == 0)
        case 1: return .not(predicate(depth: depth - 1))
        case 2: return .and(parts(depth: depth - 1))
        case 3: return .or(parts(depth: depth - 1))
        default:
            let options = StringOptions(rawValue: UInt(number(below: 4) == 0 ? number(below: 16) : 0))
            return .comparison(
                ComparisonTree(
                    expression(depth: depth), pick(ComparisonOperator.allCases), expression(depth: depth),
                    modifier: pick([.direct, .direct, .any, .all]), options: options))
        }
    }

    private mutating func parts(depth: Int) -> [PredicateTree] {
        (0..<number(below: 2) + 2).map { _ in predicate(depth: depth) }
    }

    mutating func expression(depth: Int) -> ExpressionTree {
        guard depth > 0 else { return leaf() }
        let next = depth - 1
        switch number(below: 16) {
        case 0:
            let operand = pick([ExpressionTree.keyPath(keys()), .variable(pick(words))])
            return .function(pick([.negate, .onesComplement]), [operand])
        case 1, 2:
            let function = pick(BuiltInFunction.allCases.filter { $0.argumentCount == 2 })
            return .function(function, [expression(depth: next), expression(depth: next)])
        case 3:
            let unary = BuiltInFunction.allCases.filter {
                $0.argumentCount == 1 && $0 != .negate && $0 != .onesComplement
            }
            return .function(pick(unary), [expression(depth: next)])
        case 4: return .subquery(of: expression(depth: next), variable: pick(words), predicate(depth: next))
        case 5:
            return .conditional(
                predicate(depth: next), then: expression(depth: next), otherwise: expression(depth: next))
        case 6: return .aggregate([.keyPath(keys()), expression(depth: next)])
        case 7: return .set(pick(SetOperation.allCases), expression(depth: next), expression(depth: next))
        case 8: return .element(of: .keyPath(keys()), at: pick([.first, .last, .size, .at(expression(depth: next))]))
        case 9: return .path(from: .variable(pick(words)), keys())
        case 11: return .assignment(pick(words), expression(depth: next))
        case 12: return .call(on: expression(depth: next), name: pick(["pow:", "a\"b"]), arguments: [leaf()])
        case 10: return .cast(.keyPath(keys()), to: .constant(.string(pick(["NSDate", "NSString", "NSNumber"]))))
        default: return leaf()
        }
    }

    private mutating func leaf() -> ExpressionTree {
        switch number(below: 6) {
        case 0: return .evaluatedObject
        case 1, 2: return .keyPath(keys())
        default: return .constant(value(depth: 1))
        }
    }

    private let words = ["a", "name", "In", "first", "x_1", "größe", "select", "nil2", "Subquery", "union"]

    private mutating func keys() -> [String] {
        (0..<number(below: 3) + 1).map { _ in
            pick(words + ["all", "with space", "@count", "@odd", "quo\"te", "NOT", "1st"])
        }
    }

    mutating func value(depth: Int) -> Value {
        switch number(below: depth > 0 ? 12 : 11) {
        case 0: return .null
        case 1, 2: return .integer(pick([0, 1, -1, 42, .max, .min, Int64(number(below: 1000))]))
        case 3: return .double(pick([0.5, -2.25, 1e300, 2.5e-300, 1e15, -1e16, 3, -0.0, .infinity]))
        case 4: return .decimal(NSDecimalNumber(string: pick(["0.1", "-3.50", "123456789012345678901234567890"])))
        case 5: return .date(Date(timeIntervalSinceReferenceDate: pick([0, 1.5, -0.1, 631_152_000.123456])))
        case 6: return .uuid(uuid())
        case 7: return .data(Data([0, 255, UInt8(number(below: 256))]))
        case 11: return .collection((0..<number(below: 4)).map { _ in value(depth: depth - 1) })
        default: return .string(pick(["", "a", "Ünï\"cö'dé", "\\", "\n\t", "%@ %K", "🍏\0", "a*b?", "\u{301}"]))
        }
    }

    /// A UUID of few digits: those without letters, and without numbers, are among them.
    private mutating func uuid() -> UUID {
        let digits = pick(["0123456789", "ABCDEF", "0123456789ABCDEF", "1E"])
        let groups = [8, 4, 4, 4, 12].map { count in String((0..<count).map { _ in pick(Array(digits)) }) }
        return UUID(uuidString: groups.joined(separator: "-")) ?? UUID()
    }
}
