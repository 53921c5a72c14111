/// A simple regular expression, matched in one pass over a string's characters: a sequence of characters, `.`, and sets
/// such as `[a-z0-9]` and `[^,]`, each optionally with `*`, `+` or `?`.
///
/// Whether a whole string matches does not depend on greediness, so all paths are followed at once: every bit of a
/// number is a position in the expression that the characters so far may have led to. `NSRegularExpression`, which
/// handles everything else, takes many times as long to start.
struct PlainExpression: Sendable {
    private struct Step {
        var kind: Kind
        var isOptional = false
        var repeats = false
    }

    private enum Kind {
        case scalar(UInt32)
        /// Every character; a carriage return with its line feed counts as one.
        case any
        case set(ASCIISet, isNegated: Bool)
    }

    /// A set of ASCII characters.
    private struct ASCIISet {
        var low: UInt64 = 0
        var high: UInt64 = 0

        mutating func insert(_ byte: UInt8) {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }

        func contains(_ scalar: UInt32) -> Bool {
            if scalar < 64 { return low >> UInt64(scalar) & 1 == 1 }
            return scalar < 128 && high >> UInt64(scalar - 64) & 1 == 1
        }
    }

    private var steps: ContiguousArray<Step> = []
    /// The steps that may be skipped, as bits.
    private var optional: UInt64 = 0
    /// The steps that may be repeated.
    private var repeated: UInt64 = 0

    /// Nil for an expression that may have another meaning here.
    init?(_ pattern: String) {
        var rest = Array(pattern.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            guard let kind = Self.kind(scalar, &rest) else { return nil }
            var step = Step(kind: kind)
            switch rest.first {
            case "*": (step.isOptional, step.repeats) = (true, true)
            case "+": step.repeats = true
            case "?": step.isOptional = true
            default: break
            }
            if step.isOptional || step.repeats {
                rest.removeFirst()
                // A second sign makes the first one lazy or possessive.
                if let next = rest.first, "*+?".unicodeScalars.contains(next) { return nil }
            }
            // The last bit is the end.
            guard steps.count < 63 else { return nil }
            if step.isOptional { optional |= 1 << UInt64(steps.count) }
            if step.repeats { repeated |= 1 << UInt64(steps.count) }
            steps.append(step)
        }
    }

    private static func kind(
        _ scalar: Unicode.Scalar, _ rest: inout ArraySlice<Unicode.Scalar>
    ) -> Kind? {
        switch scalar {
        case ".": return .any
        case "[": return set(&rest)
        case "\\":
            guard let escaped = rest.popFirst(), escaped.isASCII, !escaped.isWord else { return nil }
            return .scalar(escaped.value)
        case "*", "+", "?", "(", ")", "]", "{", "}", "|", "^", "$": return nil
        default: return .scalar(scalar.value)
        }
    }

    /// A set of letters, digits and their ranges, after its bracket.
    private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Kind? {
        var set = ASCIISet()
        var isNegated = false
        var isEmpty = true
        if rest.first == "^" {
            isNegated = true
            rest.removeFirst()
        }
        while let first = rest.popFirst() {
            if first == "]" { return isEmpty ? nil : .set(set, isNegated: isNegated) }
            guard first.isWord || first == " " || first == "," || first == "." else { return nil }
            var last = first
            if rest.first == "-" {
                rest.removeFirst()
                guard let end = rest.popFirst(), end.isWord, first.isWord, end >= first else { return nil }
                last = end
            }
            for byte in UInt8(truncatingIfNeeded: first.value)...UInt8(truncatingIfNeeded: last.value) {
                set.insert(byte)
            }
            isEmpty = false
        }
        return nil
    }

    /// Whether the whole string matches.
    func matches(_ string: String) -> Bool {
        var places = skippingOptional(1)
        // The positions after a dot matched a carriage return: the dot also matches the following line feed.
        var overReturn: UInt64 = 0
        for scalar in string.unicodeScalars {
            let isLineFeed = scalar.value == 0x0A
            if !isLineFeed { places |= overReturn }
            var next = isLineFeed ? overReturn : 0
            overReturn = 0
            var open = places & ~(1 << UInt64(steps.count))
            while open != 0 {
                let index = open.trailingZeroBitCount
                open &= open - 1
                guard fits(steps[index].kind, scalar.value) else { continue }
                var reached: UInt64 = 2 << UInt64(index)
                if repeated >> UInt64(index) & 1 == 1 { reached |= 1 << UInt64(index) }
                if scalar.value == 0x0D, case .any = steps[index].kind {
                    overReturn |= skippingOptional(reached)
                } else {
                    next |= reached
                }
            }
            if next | overReturn == 0 { return false }
            places = skippingOptional(next)
        }
        return (places | overReturn) >> UInt64(steps.count) & 1 == 1
    }

    /// The positions, and those after steps that may be skipped.
    @inline(__always)
    private func skippingOptional(_ places: UInt64) -> UInt64 {
        var all = places
        var skipped = all & optional
        while skipped != 0 {
            let reached = skipped << 1 & ~all
            all |= reached
            skipped = reached & optional
        }
        return all
    }

    @inline(__always)
    private func fits(_ kind: Kind, _ scalar: UInt32) -> Bool {
        switch kind {
        case .scalar(let expected): scalar == expected
        case .any: true
        case .set(let set, let isNegated): set.contains(scalar) != isNegated
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is an ASCII letter or digit, or the underscore.
    fileprivate var isWord: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
