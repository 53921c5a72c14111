/// Decides which standby is asked next: a value that knows no server. Standbys that did not answer, or lag, are left
/// out for a while.
package struct StandbyRotation: Equatable, Sendable {
    /// The result of asking a standby.
    package enum Outcome: Equatable, Sendable {
        case used
        /// It does not yet have what the reading must see.
        case lagged
        /// It is not there, or has become the primary.
        case lost
    }

    private let count: Int
    private var next: Int
    /// Until when each one is left out, relative to some fixed moment.
    private var leftOut: [Duration]
    private static let pauseOfLagging = Duration.seconds(1)
    private static let pauseOfLost = Duration.seconds(5)

    /// - Parameters:
    ///   - count: how many servers there are.
    ///   - first: which one is asked first, so that programs do not all begin with the same one.
    package init(count: Int, first: Int = 0) {
        self.count = count
        next = count > 0 ? first % count : 0
        leftOut = Array(repeating: .zero, count: count)
    }

    /// The servers to try, the best one first; empty if all are left out.
    package mutating func candidates(at time: Duration) -> [Int] {
        guard count > 0 else { return [] }
        let order = (0..<count).map { (next + $0) % count }.filter { leftOut[$0] <= time }
        next = (next + 1) % count
        return order
    }

    package mutating func note(_ outcome: Outcome, of server: Int, at time: Duration) {
        switch outcome {
        case .used: leftOut[server] = .zero
        case .lagged: leftOut[server] = time + Self.pauseOfLagging
        case .lost: leftOut[server] = time + Self.pauseOfLost
        }
    }
}
