/// A type for which containers have methods of their own, which generic code would not call.
protocol BasicValue: Codable {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Self
    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Self?
    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws
}

extension Bool: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Bool {
        try container.decode(Bool.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Bool? {
        try container.decodeIfPresent(Bool.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension String: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> String {
        try container.decode(String.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> String? {
        try container.decodeIfPresent(String.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Double: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Double {
        try container.decode(Double.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Double? {
        try container.decodeIfPresent(Double.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Float: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Float {
        try container.decode(Float.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Float? {
        try container.decodeIfPresent(Float.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int {
        try container.decode(Int.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int? {
        try container.decodeIfPresent(Int.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int8: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int8 {
        try container.decode(Int8.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int8? {
        try container.decodeIfPresent(Int8.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int16: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int16 {
        try container.decode(Int16.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int16? {
        try container.decodeIfPresent(Int16.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int32: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int32 {
        try container.decode(Int32.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int32? {
        try container.decodeIfPresent(Int32.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension Int64: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int64 {
        try container.decode(Int64.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> Int64? {
        try container.decodeIfPresent(Int64.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt {
        try container.decode(UInt.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt? {
        try container.decodeIfPresent(UInt.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt8: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt8 {
        try container.decode(UInt8.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt8? {
        try container.decodeIfPresent(UInt8.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt16: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt16 {
        try container.decode(UInt16.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt16? {
        try container.decodeIfPresent(UInt16.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt32: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt32 {
        try container.decode(UInt32.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt32? {
        try container.decodeIfPresent(UInt32.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}

extension UInt64: BasicValue {
    static func value<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt64 {
        try container.decode(UInt64.self, forKey: key)
    }

    static func valueIfPresent<Key>(of key: Key, in container: KeyedDecodingContainer<Key>) throws -> UInt64? {
        try container.decodeIfPresent(UInt64.self, forKey: key)
    }

    func encode<Key>(as key: Key, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(self, forKey: key)
    }
}
