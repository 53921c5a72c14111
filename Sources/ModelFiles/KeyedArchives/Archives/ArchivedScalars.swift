import Foundation

extension ArchivedValue {
    /// The string, plain or as an archived `NSString`; nil when the value is not a string.
    package func string() throws(KeyedArchiveError) -> String? {
        switch self {
        case .plain(.string(let string)): return string
        case .object(let object) where object.isKind(of: "NSString"):
            guard let string = object.fields["NS.string"]?.stringValue else {
                throw object.error("NS.string", expected: "a string", found: "nothing")
            }
            return string
        default: return nil
        }
    }

    /// The value as a Foundation object, if it is of a class that property lists or Core Data's attributes hold:
    /// `NSNumber`, `NSDecimalNumber`, `String`, `Data`, `Date`, `UUID`, `URL`, `NSNull`, and arrays, sets and
    /// dictionaries of these. Nil for null and for any other class, where a decimal or a collection is in a set or is a
    /// key, and where so many elements or keys have one hash that comparing them takes long.
    ///
    /// - Parameter depth: how deep collections may nest; cycles reach this limit.
    /// - Returns: the object; `nil` for null and for other classes.
    /// - Throws: an error if the archive is damaged, or the collections nest too deep.
    package func foundationValue(depth: Int = 64) throws(KeyedArchiveError) -> Any? {
        switch self {
        case .null:
            return nil
        case .plain(let value):
            if case .array = value { return nil }
            if case .dictionary = value { return nil }
            return value.foundationObject
        case .object(let object):
            return try object.foundationValue(depth: depth)
        }
    }

    /// Whether the value may be in a set, or a key: on Linux, Foundation's hash of a decimal never ends, and that of a
    /// collection is its count, so that each would be compared with all others.
    fileprivate var isHashable: Bool {
        guard case .object(let object) = self else { return true }
        return object.classNames.allSatisfy { !Self.unhashable.contains($0) }
    }

    private static let unhashable: Set<String> = [
        "NSDecimalNumber", "NSDecimalNumberPlaceholder", "NSArray", "NSSet", "NSOrderedSet", "NSDictionary",
    ]
}

extension ArchivedObject {
    package func foundationValue(depth: Int) throws(KeyedArchiveError) -> Any? {
        guard depth > 0 else {
            throw error(nil, expected: "shallower nesting", found: "a circle or more than 64 levels")
        }
        if isKind(of: "NSString") { return try ArchivedValue.object(self).string() }
        // The class of models that early compilers wrote, without the superclass of later ones.
        if isKind(of: "NSDecimalNumber") || isKind(of: "NSDecimalNumberPlaceholder") { return try decimalNumber() }
        if isKind(of: "NSDate") { return try date() }
        if isKind(of: "NSData") { return try data(forKey: "NS.data") }
        if isKind(of: "NSUUID") { return try uuid() }
        if isKind(of: "NSURL") { return try url(depth: depth) }
        if isKind(of: "NSNull") { return NSNull() }
        if let elements = try elements() {
            let isArray = isKind(of: "NSArray")
            var values: [Any] = []
            var hashes = SharedHashes()
            for element in elements {
                guard isArray || element.isHashable else { return nil }
                guard let value = try element.foundationValue(depth: depth - 1) else { return nil }
                guard isArray || archive.budget.compare(hashes.add(value)) else { return nil }
                values.append(value)
            }
            if isArray { return values }
            return isKind(of: "NSSet") ? NSSet(array: values) : NSOrderedSet(array: values)
        }
        if let pairs = try pairs() {
            var values: [AnyHashable: Any] = [:]
            var hashes = SharedHashes()
            for (key, value) in pairs {
                guard key.isHashable, let key = try key.foundationValue(depth: depth - 1) as? AnyHashable,
                    archive.budget.compare(hashes.add(key.base)),
                    let value = try value.foundationValue(depth: depth - 1)
                else { return nil }
                values[key] = value
            }
            return values
        }
        return nil
    }

    /// How many elements of a set, or keys, have which hash. Foundation's hash on Linux looks at the first 80 bytes of
    /// data and at 96 characters of a string, so that pictures that begin alike are each compared with all others.
    private struct SharedHashes {
        private var counts: [Int: Int] = [:]

        /// - Returns: with how many earlier values this one has to be compared.
        mutating func add(_ value: Any) -> Int {
            guard let hash = ((value as AnyObject) as? NSObject)?.hash else { return 0 }
            let known = counts[hash] ?? 0
            counts[hash] = known + 1
            return known
        }
    }

    /// Data that the archiver put into the object itself or into an object of its own.
    package func data(forKey key: String) throws(KeyedArchiveError) -> Data {
        switch try value(forKey: key) {
        case .plain(.data(let data)): return data
        case let value: throw error(key, expected: "data", found: value.kind)
        }
    }

    private func date() throws(KeyedArchiveError) -> Date {
        switch try value(forKey: "NS.time") {
        case .plain(.real(let seconds)): return Date(timeIntervalSinceReferenceDate: seconds)
        case .plain(.integer(let seconds)): return Date(timeIntervalSinceReferenceDate: Double(seconds))
        case let value: throw error("NS.time", expected: "a number", found: value.kind)
        }
    }

    private func uuid() throws(KeyedArchiveError) -> UUID {
        let bytes = [UInt8](try data(forKey: "NS.uuidbytes"))
        guard bytes.count == 16 else {
            throw error("NS.uuidbytes", expected: "16 bytes", found: "\(bytes.count)")
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private func url(depth: Int) throws(KeyedArchiveError) -> URL {
        let relative = try string(forKey: "NS.relative")
        try archive.budget.copy(relative.utf8.count, of: archive.objects)
        var base: URL?
        if let object = try optionalObject(forKey: "NS.base") {
            base = try object.foundationValue(depth: depth - 1) as? URL
        }
        guard let url = URL(string: relative, relativeTo: base) else {
            throw error("NS.relative", expected: "a URL", found: "“\(relative)”")
        }
        return url
    }

    /// An `NSDecimalNumber`: sign, power of ten and a mantissa of up to eight 16-bit digits.
    private func decimalNumber() throws(KeyedArchiveError) -> NSDecimalNumber {
        let bytes = [UInt8](try data(forKey: "NS.mantissa"))
        let length = try integer(forKey: "NS.length")
        let exponent = try integer(forKey: "NS.exponent")
        let isNegative = try boolean(forKey: "NS.negative")
        guard (0...8).contains(length), bytes.count >= 2 * Int(length) else {
            throw error("NS.length", expected: "0 to 8 digits that the mantissa holds", found: "\(length)")
        }
        guard (-128...127).contains(exponent) else {
            throw error("NS.exponent", expected: "-128 to 127", found: "\(exponent)")
        }
        // Foundation encodes NaN as a decimal without digits and with a sign.
        if length == 0 { return isNegative ? NSDecimalNumber.notANumber : NSDecimalNumber.zero }
        // 1 is little endian, 2 big endian, as in CFByteOrder.
        let isBigEndian = try integer(forKey: "NS.mantissa.bo", default: 1) == 2
        var mantissa = Decimal(0)
        for digit in (0..<Int(length)).reversed() {
            let first = UInt16(bytes[2 * digit])
            let second = UInt16(bytes[2 * digit + 1])
            mantissa = mantissa * 65536 + Decimal(isBigEndian ? first << 8 | second : second << 8 | first)
        }
        let value = Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: mantissa)
        return NSDecimalNumber(decimal: value)
    }
}
