import Foundation
import PostgresEngine
import StoreEngine
import Synchronization
import TestSupport
import Testing

@Suite("The queue of generations", .ownThread)
struct GenerationQueueTests {
    @Test("gives places at once while there are some, and takes them back when nobody holds them")
    func places() throws {
        let queue = GenerationQueue(places: 1, mostWaiting: 0)
        var place: GenerationPlace? = queue.takeNow()
        #expect(place != nil)
        #expect(queue.takeNow() == nil)
        place = nil
        #expect(queue.takeNow() != nil)
        _ = place
    }

    @Test("ends the wait of who was not served in time, who then has no place")
    func outOfTime() throws {
        let queue = GenerationQueue(places: 1, mostWaiting: 5)
        var place: GenerationPlace? = queue.takeNow()
        #expect(throws: GenerationQueue.Failure.outOfTime) { try queue.wait(seconds: 0.05) }
        #expect(queue.waitingCount == 0)
        place = nil
        #expect(queue.takeNow() != nil)
        _ = place
    }

    /// Waits until so many wait.
    private func waits(_ count: Int, in queue: GenerationQueue) {
        for _ in 0..<30_000 where queue.waitingCount < count { usleep(1000) }
    }

    @Test("lets no more wait than it should")
    func limit() {
        let queue = GenerationQueue(places: 1, mostWaiting: 1)
        var place = queue.takeNow()
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = try? queue.wait(seconds: 60)
            ended.signal()
        }
        waits(1, in: queue)
        #expect(throws: GenerationQueue.Failure.full(waiting: 1)) { try queue.wait(seconds: 60) }
        withExtendedLifetime(place) {}
        place = nil
        ended.wait()
    }

    /// A wait that a test ends.
    private final class Ending: EndableWait {
        private let state = Mutex<(isEnded: Bool, leave: (@Sendable () -> Void)?)>((false, nil))

        func waits(orLeaves leave: @escaping @Sendable () -> Void) -> Bool {
            state.withLock { state in
                state.leave = leave
                return !state.isEnded
            }
        }

        func hasWaited() -> Bool { state.withLock { !$0.isEnded } }

        func end() {
            let leave = state.withLock { state in
                state.isEnded = true
                return state.leave
            }
            leave?()
        }
    }

    @Test("ends the wait of who leaves, and the next place goes to who still waits", .timeLimit(.minutes(1)))
    func left() {
        let queue = GenerationQueue(places: 1, mostWaiting: 10)
        var place = queue.takeNow()
        let (ending, served) = (Ending(), DispatchSemaphore(value: 0))
        let leaving = Thread { [self] in
            waits(1, in: queue)
            Thread.detachNewThread {
                _ = try? queue.wait(seconds: 3600)
                served.signal()
            }
            waits(2, in: queue)
            ending.end()
        }
        leaving.start()
        #expect(throws: GenerationQueue.Failure.left) { try queue.wait(seconds: 3600, ending) }
        #expect(throws: GenerationQueue.Failure.left) { try queue.wait(seconds: 3600, ending) }
        withExtendedLifetime(place) {}
        place = nil
        served.wait()
    }

    @Test("serves who came first first, and nobody comes in between")
    func order() {
        let queue = GenerationQueue(places: 1, mostWaiting: 10)
        let served = Mutex<[Int]>([])
        let (count, ended) = (5, DispatchSemaphore(value: 0))
        var place = queue.takeNow()
        for number in 0..<count {
            Thread.detachNewThread {
                do {
                    let place = try? queue.wait(seconds: 60)
                    served.withLock { $0.append(number) }
                    // Somebody who comes now must not be served before the next one who waits.
                    #expect(queue.takeNow() == nil)
                    withExtendedLifetime(place) {}
                }
                ended.signal()
            }
            waits(number + 1, in: queue)
        }
        withExtendedLifetime(place) {}
        place = nil
        for _ in 0..<count { ended.wait() }
        #expect(served.withLock { $0 } == [0, 1, 2, 3, 4])
        #expect(queue.takeNow() != nil)
    }
}
