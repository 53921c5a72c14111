import PostgresConnection

extension Timestamp {
    /// Seconds from the server's epoch, 2000-01-01, to that of Foundation's dates, 2001-01-01.
    private static var epoch: Int64 { 366 * 86_400 }
    /// The years that the server knows: 4713 BC to 294276 AD.
    private static var range: Range<Double> { -211_845_067_200.0..<9_224_318_016_000.0 }

    /// A date as the server stores it, rounded to microseconds; nil for one outside the server's range.
    ///
    /// - Parameter seconds: seconds since 2001-01-01 00:00 UTC.
    package init?(secondsSince2001 seconds: Double) {
        if seconds.isInfinite {
            self = seconds > 0 ? .infinity : .negativeInfinity
            return
        }
        guard Self.range.contains(seconds + Double(Self.epoch)) else { return nil }
        let whole = seconds.rounded(.down)
        let part = ((seconds - whole) * 1_000_000).rounded()
        self.init(microseconds: (Int64(whole) + Self.epoch) * 1_000_000 + Int64(part))
    }

    /// Seconds since 2001-01-01 00:00 UTC.
    package var secondsSince2001: Double {
        switch microseconds {
        case .max: return .infinity
        case .min: return -.infinity
        default: break
        }
        let shifted = microseconds - Self.epoch * 1_000_000
        // One division as long as the number is exact, so that 0.1 stays 0.1.
        if abs(shifted) < 1 << 53 { return Double(shifted) / 1_000_000 }
        let (whole, part) = shifted.quotientAndRemainder(dividingBy: 1_000_000)
        return Double(whole) + Double(part) / 1_000_000
    }

    /// The date as it is read back after storing it.
    package static func rounded(_ seconds: Double) -> Double {
        Timestamp(secondsSince2001: seconds)?.secondsSince2001 ?? seconds
    }
}
