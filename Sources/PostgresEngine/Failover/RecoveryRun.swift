import Foundation
import PostgresConnection

/// Performs the actions of a recovery, and reports their results to it.
enum RecoveryRun {
    /// - Parameters:
    ///   - recovery: the recovery to run.
    ///   - error: the error with which the connection was lost.
    ///   - start: when it was lost.
    ///   - connect: makes a connection to a server that takes writes.
    ///   - ask: says whether the save was committed; `nil` if the answer cannot be relied on.
    /// - Returns: the outcome, and the latest error.
    /// - Throws: the errors of `connect` and `ask` that do not come from the server.
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
