import Foundation
import PostgresConnection

/// Does what a recovery says, and tells it what came of it.
enum RecoveryRun {
    /// - Parameters:
    ///   - recovery: what is to be done.
    ///   - error: what the connection was lost with.
    ///   - start: when it was lost.
    ///   - connect: makes a connection to a server that takes writes.
    ///   - ask: says whether the save came through; `nil` where the answer is not to be relied on.
    /// - Returns: what became of it, and the latest error.
    /// - Throws: what `connect` and `ask` throw that is no error of the server's.
    static func run(
        _ recovery: Recovery, from error: PostgresError, since start: ContinuousClock.Instant,
        connect: () throws -> Void, ask: () throws -> Bool? = { nil }
    ) throws -> (verdict: Recovery.Verdict, error: PostgresError) {
        var (recovery, latest) = (recovery, error)
        var action = recovery.begin()
        while true {
            let event: Recovery.Event
            switch action {
            case .end(let verdict): return (verdict, latest)
            case .wait(let duration):
                Thread.sleep(forTimeInterval: duration / .seconds(1))
                event = .waited
            case .connect:
                do {
                    try connect()
                    event = .connected
                } catch let error as PostgresError {
                    latest = error
                    event = .refused(passes: error.isWorthLookingElsewhere)
                }
            case .ask:
                do { event = try ask().map { .answered(isSaved: $0) } ?? .lost } catch let error as PostgresError {
                    latest = error
                    event = .lost
                }
            }
            action = recovery.next(event, after: ContinuousClock.now - start)
        }
    }
}
