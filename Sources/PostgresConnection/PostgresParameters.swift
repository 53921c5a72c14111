/// The values of a statement's parameters: `$1`, `$2`, …
package struct PostgresParameters {
    private(set) var types: [UInt32] = []
    /// The position and length of each value; -1 for NULL. The library sends none that is as long as can be counted.
    private var places: [(offset: Int, count: Int32)] = []
    private var values = BinaryValues()

    package init() {}

    /// How many bytes the values have.
    package var byteCount: Int { values.bytes.count }
    package var count: Int { types.count }

    /// Appends NULL of a type.
    package mutating func appendNull(_ type: PostgresType = .unknown) {
        types.append(type.rawValue)
        places.append((0, -1))
    }

    package mutating func append<Value: BinaryValue>(_ value: Value) {
        types.append(Value.type.rawValue)
        let start = values.bytes.count
        value.write(to: &values)
        places.append((start, Int32(clamping: values.bytes.count - start)))
    }

    package mutating func append<Value: BinaryValue>(_ value: Value?) {
        if let value { append(value) } else { appendNull(Value.type) }
    }

    /// Appends all parameters of another list.
    package mutating func append(contentsOf others: PostgresParameters) {
        types += others.types
        let start = values.bytes.count
        others.values.bytes.withUnsafeBytes { values.append(contentsOf: $0) }
        places += others.places.map { (start + $0.offset, $0.count) }
    }

    /// Appends an array of values.
    package mutating func append(_ array: PostgresArray) {
        types.append(array.type.array)
        let start = values.bytes.count
        array.write(to: &values)
        places.append((start, Int32(clamping: values.bytes.count - start)))
    }

    package mutating func append<Value: BinaryValue>(array: some Sequence<Value>) {
        var values = PostgresArray(Value.type)
        for value in array { values.append(value) }
        append(values)
    }

    /// Passes the parts in the form of the library, valid while the closure runs.
    func withParts<Result>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ counts: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) throws -> Result
    ) rethrows -> Result {
        let count = places.count
        guard count > 0 else { return try body(0, nil, nil, nil) }
        // An empty value needs a pointer, too; a null pointer means NULL.
        let empty: StaticString = ""
        return try values.bytes.withUnsafeBytes { raw in
            try withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { pointers in
                try withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * 2) { numbers in
                    for (index, place) in places.enumerated() {
                        let start = place.count > 0 ? raw.baseAddress.map { $0 + place.offset } : nil
                        let present = start ?? UnsafeRawPointer(empty.utf8Start)
                        pointers.initializeElement(
                            at: index, to: place.count < 0 ? nil : present.assumingMemoryBound(to: CChar.self))
                        numbers.initializeElement(at: index, to: max(place.count, 0))
                        // All values are in binary form.
                        numbers.initializeElement(at: count + index, to: 1)
                    }
                    let counts = numbers.baseAddress.map { UnsafePointer($0) }
                    return try body(
                        Int32(count), pointers.baseAddress.map { UnsafePointer($0) }, counts, counts.map { $0 + count })
                }
            }
        }
    }
}

/// An array of values of one type, written as they are added.
@usableFromInline package struct PostgresArray {
    package let type: PostgresType
    @usableFromInline package var count = 0
    @usableFromInline var hasNull = false
    @usableFromInline var values = BinaryValues()

    package init(_ type: PostgresType) { self.type = type }

    @inlinable @inline(__always)
    package mutating func append(_ value: some BinaryValue) {
        count += 1
        values.appendSized(value)
    }

    @inlinable package mutating func appendNull() {
        count += 1
        hasNull = true
        values.appendNull()
    }

    func write(to all: inout BinaryValues) {
        all.append(Int32(count == 0 ? 0 : 1))
        all.append(Int32(hasNull ? 1 : 0))
        all.append(type.rawValue)
        guard count > 0 else { return }
        all.append(Int32(count))
        all.append(Int32(1))
        values.bytes.withUnsafeBytes { all.append(contentsOf: $0) }
    }
}

/// The types in which values are sent and received, by the numbers that every PostgreSQL server has for them.
@usableFromInline package enum PostgresType: UInt32, Sendable {
    /// The server infers the type.
    case unknown = 0
    case boolean = 16
    case bytes = 17
    case bigint = 20
    case smallint = 21
    case integer = 23
    case text = 25
    case real = 700
    case double = 701
    case timestamp = 1184
    case numeric = 1700
    case uuid = 2950

    /// The type of arrays of these.
    package var array: UInt32 {
        switch self {
        case .unknown: 0
        case .boolean: 1000
        case .bytes: 1001
        case .bigint: 1016
        case .smallint: 1005
        case .integer: 1007
        case .text: 1009
        case .real: 1021
        case .double: 1022
        case .timestamp: 1185
        case .numeric: 1231
        case .uuid: 2951
        }
    }

    /// The name in SQL.
    package var name: String {
        switch self {
        case .unknown: "text"
        case .boolean: "boolean"
        case .bytes: "bytea"
        case .bigint: "bigint"
        case .smallint: "smallint"
        case .integer: "integer"
        case .text: "text"
        case .real: "real"
        case .double: "double precision"
        case .timestamp: "timestamp with time zone"
        case .numeric: "numeric"
        case .uuid: "uuid"
        }
    }
}
