/// What somebody did to one object, and when.
package struct RegisterOperation: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The object was seen so; `nil` where it was not there.
        case read(String?)
        /// The object was so, and is otherwise now; `nil` stands for an object that is not there.
        case change(from: String?, to: String?)
        /// The object is so now, whatever it was before.
        case write(String?)
    }

    package let kind: Kind
    /// When it began.
    package let start: UInt64
    /// When its result was known; `nil` for one whose result never was, which may have happened at any time since, or
    /// not at all.
    package let end: UInt64?
    /// Who did it, for people.
    package let name: String

    package init(_ kind: Kind, _ start: UInt64, _ end: UInt64?, name: String = "") {
        (self.kind, self.start, self.end, self.name) = (kind, start, end, name)
    }
}

/// Whether a history of operations on one object could have happened one after the other: each at a moment between its
/// beginning and its end, each finding what the one before it left.
///
/// The search is Wing and Gong's: the first operation is one that began before any other had ended; then the rest
/// likewise. Positions that led nowhere are remembered.
package enum Linearizability {
    /// - Parameters:
    ///   - history: what was done.
    ///   - initial: how the object was before; `nil` for not there.
    ///   - steps: how many positions are tried before giving up.
    /// - Returns: an order; `nil` where there is none.
    /// - Throws: `TooLong` where the steps do not suffice.
    package static func order(
        of history: [RegisterOperation], from initial: String? = nil, steps: Int = 5_000_000
    ) throws -> [RegisterOperation]? {
        var search = Search(history.sorted { $0.start < $1.start }, steps)
        return try search.run(initial) ? search.order.map { search.operations[$0] } : nil
    }

    package struct TooLong: Error {}

    private struct Position: Hashable {
        let done: [UInt64]
        let state: String?
    }

    private struct Search {
        let operations: [RegisterOperation]
        private(set) var order: [Int] = []
        private var done: [UInt64]
        private var failed: Set<Position> = []
        private var steps: Int
        /// How many operations with a known end are still to come.
        private var open: Int

        init(_ operations: [RegisterOperation], _ steps: Int) {
            (self.operations, self.steps) = (operations, steps)
            done = Array(repeating: 0, count: operations.count / 64 + 1)
            open = operations.count { $0.end != nil }
        }

        private func isDone(_ index: Int) -> Bool { done[index / 64] & (1 << UInt64(index % 64)) != 0 }

        mutating func run(_ initial: String?) throws -> Bool {
            var state = initial
            var before: [String?] = []
            var candidate = 0
            while open > 0 {
                steps -= 1
                guard steps > 0 else { throw TooLong() }
                let isKnown = candidate == 0 && failed.contains(Position(done: done, state: state))
                if !isKnown, let (index, next) = next(candidate, state) {
                    before.append(state)
                    take(index)
                    (state, candidate) = (next, 0)
                } else {
                    if !isKnown { failed.insert(Position(done: done, state: state)) }
                    guard let last = order.last, let former = before.popLast() else { return false }
                    giveBack(last)
                    (state, candidate) = (former, last + 1)
                }
            }
            return true
        }

        /// The next operation, from an index on, that can come now, and what it leaves.
        private func next(_ candidate: Int, _ state: String?) -> (index: Int, state: String?)? {
            let first = (done.firstIndex { $0 != .max } ?? 0) * 64
            // Nothing that began after another one's end can come before it.
            var earliestEnd = UInt64.max
            for index in first..<max(first, operations.count) where !isDone(index) {
                if operations[index].start > earliestEnd { break }
                earliestEnd = min(earliestEnd, operations[index].end ?? .max)
            }
            for index in max(first, candidate)..<max(first, candidate, operations.count) where !isDone(index) {
                if operations[index].start > earliestEnd { break }
                switch operations[index].kind {
                case .read(let seen): if seen == state { return (index, state) }
                case .change(let from, let to): if from == state { return (index, to) }
                case .write(let value): return (index, value)
                }
            }
            return nil
        }

        private mutating func take(_ index: Int) {
            done[index / 64] |= 1 << UInt64(index % 64)
            order.append(index)
            if operations[index].end != nil { open -= 1 }
        }

        private mutating func giveBack(_ index: Int) {
            if operations[index].end != nil { open += 1 }
            order.removeLast()
            done[index / 64] &= ~(1 << UInt64(index % 64))
        }
    }
}
