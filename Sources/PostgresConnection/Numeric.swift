/// A decimal number of any length: digits in groups of four, as in PostgreSQL.
package struct Numeric: BinaryValue, Hashable, Sendable {
    /// The groups, each below 10,000, the most significant first.
    private var groups: [Int16] = []
    /// The power of 10,000 of the first group.
    private var weight: Int16 = 0
    private var sign: UInt16 = 0
    /// How many digits after the point are shown.
    private var scale: Int16 = 0

    private static let notANumber: UInt16 = 0xC000
    private static let negative: UInt16 = 0x4000

    /// Reads a number such as `-12.5`, without an exponent; nil for anything else.
    package init?(_ text: String) {
        var digits = Array(text.utf8)
        if digits.first == UInt8(ascii: "-") {
            sign = Self.negative
            digits.removeFirst()
        }
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.count
        var whole = Array(digits[..<point])
        var fraction = point < digits.count ? Array(digits[(point + 1)...]) : []
        guard !whole.isEmpty || !fraction.isEmpty,
            (whole + fraction).allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            fraction.count < 16384, whole.count <= 131_068
        else { return nil }
        scale = Int16(fraction.count)
        let zero = UInt8(ascii: "0")
        while whole.count % 4 != 0 { whole.insert(zero, at: 0) }
        while fraction.count % 4 != 0 { fraction.append(zero) }
        weight = Int16(whole.count / 4) - 1
        let all = whole + fraction
        for start in stride(from: 0, to: all.count, by: 4) {
            groups.append(all[start..<start + 4].reduce(Int16(0)) { $0 * 10 + Int16($1 - zero) })
        }
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        while groups.last == 0 { groups.removeLast() }
        if groups.isEmpty { (weight, sign) = (0, 0) }
    }

    /// Reads the binary form.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else { return nil }
        func number(_ position: Int) -> Int16 {
            Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: position * 2, as: Int16.self))
        }
        let count = Int(number(0))
        guard count >= 0, bytes.count >= 8 + count * 2 else { return nil }
        weight = number(1)
        sign = UInt16(bitPattern: number(2))
        scale = number(3)
        groups = (0..<count).map { number(4 + $0) }
    }

    package static var type: PostgresType { .numeric }
    package var binaryCount: Int { 8 + groups.count * 2 }

    package func write(to values: inout BinaryValues) {
        values.append(Int16(groups.count))
        values.append(weight)
        values.append(sign)
        values.append(scale)
        for group in groups { values.append(group) }
    }

    /// Whether this is NaN or an infinity.
    package var isSpecial: Bool { sign & Self.notANumber == Self.notANumber }

    /// The number in digits, without trailing zeros.
    package var text: String {
        if isSpecial { return "NaN" }
        func group(_ power: Int) -> Int {
            let index = Int(weight) - power
            return groups.indices.contains(index) ? Int(groups[index]) : 0
        }
        func padded(_ number: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: 4 - text.count) + text
        }
        var whole = "0"
        if weight >= 0 {
            whole = String(group(Int(weight)))
            for power in stride(from: Int(weight) - 1, through: 0, by: -1) { whole += padded(group(power)) }
        }
        var fraction = ""
        var power = -1
        while Int(weight) - power < groups.count {
            fraction += padded(group(power))
            power -= 1
        }
        while fraction.last == "0" { fraction.removeLast() }
        let text = fraction.isEmpty ? whole : whole + "." + fraction
        return sign == Self.negative ? "-" + text : text
    }
}
