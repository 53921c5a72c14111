/// Whole numbers of 128 bits, for which no store has a column. In lists, which are JSON, they are kept like any other
/// number.
enum WideInteger {
    static func isOne(_ type: Any.Type) -> Bool {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return false }
        return type == Int128.self || type == UInt128.self
    }

    /// - Parameters:
    ///   - type: the type of the number.
    ///   - probe: the type that asked for it.
    ///   - key: the key of the number; nil where it is all that the type has.
    /// - Returns: the error.
    static func refusal(of type: Any.Type, in probe: TypeProbe, _ key: (any CodingKey)?) -> PersistenceError {
        .notDerivable(
            type: probe.name, property: key?.stringValue ?? "",
            reason:
                "a store has no column for \(type): it keeps whole numbers of 64 bits at most. Use an Int64, or a String "
                + "with the digits.")
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ProbeKeyedContainer {
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        throw WideInteger.refusal(of: type, in: probe, key)
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        throw WideInteger.refusal(of: type, in: probe, key)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ProbeSingleContainer {
    func decode(_ type: Int128.Type) throws -> Int128 { throw WideInteger.refusal(of: type, in: probe, nil) }

    func decode(_ type: UInt128.Type) throws -> UInt128 { throw WideInteger.refusal(of: type, in: probe, nil) }
}
