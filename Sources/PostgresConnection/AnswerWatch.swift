import CLibPQ
import Dispatch
import Foundation
import Synchronization

/// Watches over connections that wait for an answer. A server whose machine is gone, or which stands still, never says so: the one who
/// waits would wait for ever.
///
/// A connection that has waited for long enough has its server asked for a new connection. Where it gets one, the statement is just slow, and goes
/// on; where not, the socket is shut, so that whoever waits gets an error.
final class AnswerWatch: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the socket; the rest is atomic or does not change.
    private let limit: UInt64
    /// Where to ask: the server of this connection, and no other one.
    private let target: ConnectionTarget
    /// Since when an answer is awaited, in nanoseconds of the machine's clock; 0 while none is.
    private let since = Atomic<UInt64>(0)
    private let isProbing = Atomic<Bool>(false)
    private let lock = NSLock()
    private var socket: Int32

    /// - Parameters:
    ///   - target: the server of the connection.
    ///   - socket: what is shut where the server is gone.
    ///   - seconds: after how long the server is asked.
    init(_ target: ConnectionTarget, socket: Int32, seconds: Double) {
        (self.target, self.socket, limit) = (target, socket, UInt64(seconds * 1e9))
        Self.all.add(self)
    }

    func begin() { since.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed) }
    func end() { since.store(0, ordering: .relaxed) }

    /// The socket is closed after this, and its number may be another one's.
    func invalidate() { lock.withLock { socket = -1 } }

    /// Looks at the clock.
    private func look() {
        let start = since.load(ordering: .relaxed)
        guard start != 0, DispatchTime.now().uptimeNanoseconds &- start > limit,
            !isProbing.exchange(true, ordering: .relaxed)
        else { return }
        DispatchQueue.global().async { [self] in
            let isThere = Self.answers(target)
            // Another answer may be awaited now; it has its own time.
            let isSame = since.load(ordering: .relaxed) == start
            if isThere, isSame {
                _ = since.compareExchange(
                    expected: start, desired: DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
            } else if !isThere, isSame {
                lock.withLock { if socket >= 0 { _ = shutdown(socket, Int32(SHUT_RDWR)) } }
            }
            isProbing.store(false, ordering: .relaxed)
        }
    }

    /// Whether a server lets somebody in, or says why not.
    private static func answers(_ target: ConnectionTarget) -> Bool {
        do {
            PQfinish(try target.connect())
            return true
        } catch {
            guard let error = error as? PostgresError else { return false }
            return !error.isWorthLookingElsewhere || error.state == "53300"
        }
    }

    // MARK: The clock

    private static let all = Watches()

    /// All connections that are watched, and the timer that has them look at the clock while there are any.
    private final class Watches: @unchecked Sendable {
        // @unchecked Sendable: the lock guards both.
        private struct WeakWatch { weak var watch: AnswerWatch? }
        private let lock = NSLock()
        private var watches: [WeakWatch] = []
        private var timer: (any DispatchSourceTimer)?

        func add(_ watch: AnswerWatch) {
            lock.withLock {
                watches.append(WeakWatch(watch: watch))
                guard timer == nil else { return }
                let new = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "AnswerWatch"))
                new.schedule(deadline: .now() + .milliseconds(250), repeating: .milliseconds(250))
                new.setEventHandler { [weak self] in self?.look() }
                timer = new
                new.resume()
            }
        }

        private func look() {
            let present: [AnswerWatch] = lock.withLock {
                watches.removeAll { $0.watch == nil }
                if watches.isEmpty {
                    timer?.cancel()
                    timer = nil
                }
                return watches.compactMap(\.watch)
            }
            for watch in present { watch.look() }
        }
    }
}
