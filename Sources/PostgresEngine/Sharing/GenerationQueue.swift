import CoreDataModel
import Foundation
import StoreEngine

/// Option (number of seconds): how long a query generation waits for one of those that are pinned to be let go, where no more can be
/// (`NSPersistentStoreConnectionPoolMaxSizeKey`); 5 where it is not given, 0 for not at all.
public let NSPostgreSQLGenerationWaitOption = "NSPostgreSQLGenerationWaitOption"
/// Option (number): how many query generations wait at most; one more is an error at once. 1,000 where it is not given.
public let NSPostgreSQLGenerationQueueOption = "NSPostgreSQLGenerationQueueOption"

/// The places for generations, each of which has a connection of its own, and those who wait for one: who came first is served first, and nobody comes
/// in between.
package final class GenerationQueue: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes.
    private final class Waiter {
        let semaphore = DispatchSemaphore(value: 0)
        /// Whether the place of somebody who left is this one's.
        var isServed = false
    }

    package enum Failure: Error, Equatable {
        /// So many wait already.
        case full(waiting: Int)
        /// Nobody left in time.
        case outOfTime
    }

    private let lock = NSLock()
    private var free: Int
    private var waiting: [Waiter] = []
    private let mostWaiting: Int

    package init(places: Int, mostWaiting: Int) { (free, self.mostWaiting) = (places, mostWaiting) }

    /// A place, where one is free and nobody waits for it.
    package func takeNow() -> GenerationPlace? {
        lock.withLock {
            guard free > 0, waiting.isEmpty else { return nil }
            free -= 1
            return GenerationPlace(self)
        }
    }

    /// A place, as soon as it is this one's turn.
    ///
    /// - Parameter seconds: how long to wait.
    /// - Returns: the place.
    /// - Throws: ``Failure``.
    package func wait(seconds: Double) throws(Failure) -> GenerationPlace {
        if let place = takeNow() { return place }
        let waiter = Waiter()
        let count: Int? = lock.withLock {
            // Somebody may have left in between.
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
        if !lock.withLock({ waiter.isServed }) { _ = waiter.semaphore.wait(timeout: .now() + seconds) }
        let isServed = lock.withLock {
            waiting.removeAll { $0 === waiter }
            return waiter.isServed
        }
        guard isServed else { throw .outOfTime }
        return GenerationPlace(self)
    }

    /// How many wait.
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

/// A place for a generation, which is given back when nobody holds it any more.
package final class GenerationPlace: Sendable {
    let queue: GenerationQueue

    fileprivate init(_ queue: GenerationQueue) { self.queue = queue }

    deinit { queue.giveBack() }
}

/// How long, and how many, wait for a generation.
struct GenerationLimits {
    let seconds: Double
    let mostWaiting: Int

    init(_ options: [AnyHashable: Any]?) {
        func number(_ key: String) -> Double? { (options?[key] as? NSNumber)?.doubleValue ?? options?[key] as? Double }
        seconds = max(0, min(number(NSPostgreSQLGenerationWaitOption) ?? 5, 1_000_000))
        mostWaiting = Int(max(0, min(number(NSPostgreSQLGenerationQueueOption) ?? 1000, 1_000_000)))
    }
}
