import CLibMicroHTTPD
import Foundation
import HTTPMessages
import Synchronization

/// Notices clients that leave while long work is done for them. libmicrohttpd does so only when it sends something.
final class ClientWatch: Sendable {
    private struct State {
        var latest = 0
        var watched: [Int: (descriptor: Int32, stop: @Sendable () -> Void)] = [:]
        var isRunning = false
    }

    /// How often it is looked, in microseconds.
    private static let interval: UInt32 = 100_000

    private let state = Mutex(State())

    /// Watches a connection.
    ///
    /// - Returns: the number to ``end(_:)`` it with.
    func begin(_ descriptor: Int32, _ stop: @escaping @Sendable () -> Void) -> Int {
        let (number, isFirst) = state.withLock { state in
            state.latest += 1
            state.watched[state.latest] = (descriptor, stop)
            defer { state.isRunning = true }
            return (state.latest, !state.isRunning)
        }
        if isFirst { Thread.detachNewThread { self.run() } }
        return number
    }

    /// Ends it: nothing is stopped afterwards.
    func end(_ number: Int) { state.withLock { _ = $0.watched.removeValue(forKey: number) } }

    /// Looks as long as there is something to watch.
    private func run() {
        while true {
            usleep(Self.interval)
            let isOver = state.withLock { state in
                for connection in state.watched.values where loopback_server_has_left(connection.descriptor) != 0 {
                    connection.stop()
                }
                state.isRunning = !state.watched.isEmpty
                return !state.isRunning
            }
            if isOver { return }
        }
    }
}

/// The client of one connection, to be used by that connection's thread.
struct ConnectedClient: HTTPClient {
    let descriptor: Int32
    let watch: ClientWatch

    var isWaiting: Bool { loopback_server_has_left(descriptor) == 0 }

    func whileWaiting<Result>(
        stop: @escaping @Sendable () -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let number = watch.begin(descriptor, stop)
        defer { watch.end(number) }
        return try body()
    }
}
