import CLibPQ
import Dispatch
import Foundation
import Synchronization

/// Watches connections that wait for an answer. A server whose machine is gone or stalled never says so, and the caller
/// would wait forever.
///
/// If a connection has waited for too long, its server is asked for a new connection. If it gives one, the statement is
/// merely slow, and goes on; if not, the socket is shut down, so that the waiting caller gets an error.
final class AnswerWatch: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the socket; the rest is atomic or does not change.
    private let limit: UInt64
    /// The server to ask: that of this connection, and no other one.
    private let target: ConnectionTarget
    /// The start of the current wait, in nanoseconds of the machine's clock; 0 if none.
    private let since = Atomic<UInt64>(0)
    private let isProbing = Atomic<Bool>(false)
    private let lock = NSLock()
    private var socket: Int32

    /// - Parameters:
    ///   - target: the server of the connection.
    ///   - socket: the socket to shut down if the server is gone.
    ///   - seconds: after how long the server is asked.
    init(_ target: ConnectionTarget, socket: Int32, seconds: Double) {
        (self.target, self.socket, limit) = (target, socket, UInt64(seconds * 1e9))
        Self.all.add(self)
    }

    func begin() { since.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed) }
    func end() { since.store(0, ordering: .relaxed) }

    /// The socket is closed after this, and its number may be reused.
    func invalidate() { lock.withLock { socket = -1 } }

    /// Asks the server if the current wait has taken too long.
    private func look() {
        let start = since.load(ordering: .relaxed)
        guard start != 0, DispatchTime.now().uptimeNanoseconds &- start > limit,
            !isProbing.exchange(true, ordering: .relaxed)
        else { return }
        DispatchQueue.global().async { [self] in
            let isThere = Self.answers(target)
            // Another answer may be awaited by now, with a time of its own.
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

    /// Whether a server accepts a connection, or says why not.
    private static func answers(_ target: ConnectionTarget) -> Bool {
        do {
            PQfinish(try target.connect())
            return true
        } catch {
            guard let error = error as? PostgresError else { return false }
            return !error.isWorthLookingElsewhere || error.isWithoutConnection || error.isServerTrouble
        }
    }

    // MARK: The clock

    private static let all = Watches()

    /// All watched connections, and the timer that checks them while there are any.
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
