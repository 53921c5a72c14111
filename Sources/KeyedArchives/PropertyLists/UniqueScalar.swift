import Foundation

/// A scalar of a property list as a key, for values that are written once however often they are used.
///
/// Strings are distinguished by their bytes: Swift's own equality would merge "é" and "e" followed by an accent.
enum UniqueScalar: Hashable {
    case boolean(Bool)
    case integer(Int64)
    case unsignedInteger(UInt64)
    case real(bits: UInt64)
    case date(bits: UInt64)
    case data(WholeData)
    case string([UInt8])
    case uid(UInt32)

    /// Nil for arrays and dictionaries.
    init?(_ value: PropertyList) {
        switch value {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .unsignedInteger(let value): self = .unsignedInteger(value)
        case .real(let value): self = .real(bits: value.bitPattern)
        case .date(let value): self = .date(bits: value.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let value): self = .data(WholeData(value))
        case .string(let value): self = .string(Array(value.utf8))
        case .uid(let value): self = .uid(value)
        case .array, .dictionary: return nil
        }
    }
}

extension UniqueScalar {
    /// Data whose hash is that of all bytes: Foundation's is that of the first 80, which many pictures have in common,
    /// and then each is compared with all others.
    struct WholeData: Hashable {
        private let data: Data

        init(_ data: Data) { self.data = data }

        func hash(into hasher: inout Hasher) { data.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
}
