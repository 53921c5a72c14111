import Foundation

/// A kind of work, done at two sizes: what it takes for each item should not depend on how many there are.
struct Kind: Sendable {
    let title: String
    /// How many times as long an item may take at the larger size; more than one only where the work says why.
    var allowance = 1.6
    let work: @Sendable (Trial) async throws -> Void

    /// Whether an item takes longer among many than it may. Less than half a microsecond more is the processor's
    /// caches: a walk through 16,000 things takes more than that.
    func grows(_ small: Double, _ large: Double) -> Bool { large / small > allowance && large - small > 0.5 }

    /// Work of a thread of its own.
    init(_ title: String, allowance: Double = 1.6, _ work: @escaping @Sendable (Trial) throws -> Void) {
        self.title = title
        self.allowance = allowance
        self.work = { try work($0) }
    }

    /// Work that waits.
    init(_ title: String, allowance: Double = 1.6, waiting work: @escaping @Sendable (Trial) async throws -> Void) {
        self.title = title
        self.allowance = allowance
        self.work = work
    }
}

/// One run of a kind of work at one size, in a folder of its own.
final class Trial {
    let size: Int
    let folder: URL
    /// Processor time of the part that counts, in seconds.
    private(set) var seconds = 0.0
    private(set) var items = 0

    init(size: Int, folder: URL) {
        self.size = size
        self.folder = folder
    }

    var microsecondsAnItem: Double { seconds * 1e6 / Double(max(items, 1)) }

    /// Measures what `body` takes, as work on so many items.
    func measure(_ items: Int? = nil, _ body: () throws -> Void) rethrows {
        let start = processorTime()
        try body()
        seconds += processorTime() - start
        self.items += items ?? size
    }

    /// The same for what waits.
    func measure(_ items: Int? = nil, _ body: () async throws -> Void) async rethrows {
        let start = processorTime()
        try await body()
        seconds += processorTime() - start
        self.items += items ?? size
    }

    func expect(_ holds: Bool, _ what: String = "the result") {
        guard !holds else { return }
        fatalError("\(what) is not as expected")  // A measurement of wrong work says nothing.
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
