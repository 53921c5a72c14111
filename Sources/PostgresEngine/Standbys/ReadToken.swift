import Foundation

/// A promise: a reading with it sees at least what had been saved when it was made, on whichever server.
///
/// ```swift
/// try context.save()
/// let token = try coordinator.postgreSQLReadToken()       // into a cookie, say
/// // in another process:
/// try coordinator.require(token)                          // what is pinned after this sees the save
/// ```
public struct NSPostgreSQLReadToken: Codable, Hashable, Comparable, Sendable {
    /// A position in the server's log: everything written before it is seen.
    let position: UInt64

    init(position: UInt64) { self.position = position }

    /// A position as PostgreSQL writes it: `16/B374D848`.
    init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let high = UInt32(parts[0], radix: 16), let low = UInt32(parts[1], radix: 16) else {
            return nil
        }
        position = UInt64(high) << 32 | UInt64(low)
    }

    /// The position as PostgreSQL reads it.
    var text: String {
        "\(String(position >> 32, radix: 16, uppercase: true))/\(String(position & 0xFFFF_FFFF, radix: 16, uppercase: true))"
    }

    /// Whether one promise is smaller than another one, which then includes it.
    ///
    /// - Parameters:
    ///   - first: a promise.
    ///   - second: another one of the same cluster.
    /// - Returns: whether the second one promises more.
    public static func < (first: Self, second: Self) -> Bool { first.position < second.position }

    /// Reads a token as it is kept.
    ///
    /// - Parameter decoder: what holds the token.
    /// - Throws: an error for a text that is not a token.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = Self(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no place in a log")
        }
        self = token
    }

    /// Writes the token: a short text.
    ///
    /// - Parameter encoder: what takes the token.
    /// - Throws: the encoder's errors.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
