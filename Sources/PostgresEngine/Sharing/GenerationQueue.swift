import CoreDataModel
import Foundation
import StoreEngine

/// Option (number of seconds): how long a query generation waits for a pinned one to be released, if there can be no
/// more (`NSPersistentStoreConnectionPoolMaxSizeKey`); 5 if not given, 0 for no waiting.
public let NSPostgreSQLGenerationWaitOption = "NSPostgreSQLGenerationWaitOption"
/// Option (number): how many query generations wait at most; a further one fails at once. 1,000 if not given.
public let NSPostgreSQLGenerationQueueOption = "NSPostgreSQLGenerationQueueOption"

/// The places for generations, each of which has a connection of its own, and a first-come, first-served queue of those
/// that wait for one.
package final class GenerationQueue: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes.
    private final class Waiter {
        let semaphore = DispatchSemaphore(value: 0)
        /// Whether this waiter has received a released place.
        var isServed = false
    }

    package enum Failure: Error, Equatable {
        /// Too many are waiting already.
        case full(waiting: Int)
        /// No place was released in time.
        case outOfTime
        /// The caller does not need one any more.
        case left
    }

    private let lock = NSLock()
    private var free: Int
    private var waiting: [Waiter] = []
    private let mostWaiting: Int

    package init(places: Int, mostWaiting: Int) { (free, self.mostWaiting) = (places, mostWaiting) }

    /// A place, if one is free and no other caller waits for it.
    package func takeNow() -> GenerationPlace? {
        lock.withLock {
            guard free > 0, waiting.isEmpty else { return nil }
            free -= 1
            return GenerationPlace(self)
        }
    }

    /// Waits for a place until it is this caller's turn.
    ///
    /// - Parameters:
    ///   - seconds: how long to wait.
    ///   - end: ends the wait early; nil for a caller that waits in any case.
    /// - Returns: the place.
    /// - Throws: ``Failure``.
    package func wait(seconds: Double, _ end: (any EndableWait)? = nil) throws(Failure) -> GenerationPlace {
        if let place = takeNow() { return place }
        let waiter = Waiter()
        let count: Int? = lock.withLock {
            // A place may have been released in between.
            if free > 0, waiting.isEmpty {
                free -= 1
                waiter.isServed = true
                return nil
            }
            guard waiting.count < mostWaiting else { return waiting.count }
            waiting.append(waiter)
            return nil
        }
        if let count { throw .full(waiting: count) }
        let turn = waiter.semaphore
        var isLeft = false
        if !lock.withLock({ waiter.isServed }) {
            if end?.waits(orLeaves: { turn.signal() }) ?? true { _ = turn.wait(timeout: .now() + seconds) }
            isLeft = end.map { !$0.hasWaited() } ?? false
        }
        let isServed = lock.withLock {
            waiting.removeAll { $0 === waiter }
            return waiter.isServed
        }
        guard isServed else { throw isLeft ? .left : .outOfTime }
        let place = GenerationPlace(self)
        // The place goes to the next one then.
        if isLeft { throw .left }
        return place
    }

    /// The number of waiting callers. For tests.
    package var waitingCount: Int { lock.withLock { waiting.count } }

    fileprivate func giveBack() {
        lock.withLock {
            guard !waiting.isEmpty else { return free += 1 }
            let first = waiting.removeFirst()
            first.isServed = true
            first.semaphore.signal()
        }
    }
}

/// A place for a generation, which is given back when it is deallocated.
package final class GenerationPlace: Sendable {
    let queue: GenerationQueue

    fileprivate init(_ queue: GenerationQueue) { self.queue = queue }

    deinit { queue.giveBack() }
}

/// How long, and how many, generations wait.
struct GenerationLimits {
    let seconds: Double
    let mostWaiting: Int

    init(_ options: [AnyHashable: Any]?) {
        func number(_ key: String) -> Double? { (options?[key] as? NSNumber)?.doubleValue }
        seconds = max(0, min(number(NSPostgreSQLGenerationWaitOption) ?? 5, 1_000_000))
        mostWaiting = Int(max(0, min(number(NSPostgreSQLGenerationQueueOption) ?? 1000, 1_000_000)))
    }
}
