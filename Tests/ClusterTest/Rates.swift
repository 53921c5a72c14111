import Foundation

/// A fault that has happened.
struct Happened {
    let fault: Fault
    let start: UInt64
    /// When the cluster was whole again.
    let end: UInt64
}

/// What faults cost: the time without a save, and saves a second before, during and after.
struct Rates {
    /// How much of the time before and after a fault counts.
    private static let margin: UInt64 = 2_000_000_000

    /// The moments at which saves were acknowledged, in order.
    private let moments: [UInt64]

    init(_ saves: [Entry]) { moments = saves.filter { $0.outcome == .done }.map(\.end).sorted() }

    /// A line for each kind of fault.
    func lines(_ happened: [Happened]) -> [String] {
        Fault.allCases.compactMap { fault in
            let times = happened.filter { $0.fault == fault }
            let gaps = times.map { longestGap($0.start, $0.end) }.sorted()
            guard let longest = gaps.last else { return nil }
            let rates = [
                rate(times.map { ($0.start - Self.margin, $0.start) }), rate(times.map { ($0.start, $0.end) }),
                rate(times.map { ($0.end, $0.end + Self.margin) }),
            ]
            return String(
                format:
                    "  %@: %d times; no save for %.1f s (median), at most %.1f s; saves a second before %.0f, during %.0f, after %.0f",
                fault.rawValue, gaps.count, Double(gaps[gaps.count / 2]) / 1e9, Double(longest) / 1e9, rates[0],
                rates[1], rates[2])
        }
    }

    /// Saves a second within spans of time.
    private func rate(_ spans: [(start: UInt64, end: UInt64)]) -> Double {
        let length = spans.reduce(0) { $0 + Double($1.end - $1.start) / 1e9 }
        return length == 0
            ? 0 : Double(spans.reduce(0) { $0 + count(before: $1.end) - count(before: $1.start) }) / length
    }

    private func count(before moment: UInt64) -> Int {
        var (low, high) = (0, moments.count)
        while low < high {
            let middle = (low + high) / 2
            if moments[middle] < moment { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The longest time without a save that was acknowledged.
    private func longestGap(_ start: UInt64, _ end: UInt64) -> UInt64 {
        var (longest, latest): (UInt64, UInt64) = (0, start)
        for moment in moments[count(before: start + 1)...] {
            longest = max(longest, moment - latest)
            latest = moment
            if moment > end { break }
        }
        return longest
    }
}
