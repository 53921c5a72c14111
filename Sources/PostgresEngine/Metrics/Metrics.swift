import Synchronization

/// What happens between a program and its servers, for those who count and measure.
public enum NSPostgreSQLEvent: Hashable, Sendable {
    /// A server was lost, with the state that PostgreSQL or its library gave.
    case serverLost(state: String)
    /// A server that takes writes was found after one was lost.
    case serverFound(after: Duration)
    /// No server was found in time.
    case serverNotFound(after: Duration)
    /// A save whose answer was lost was asked for.
    case saveDecided(isSaved: Bool, after: Duration)
    /// A save whose answer was lost could not be asked for in time.
    case saveUndecided(after: Duration)
    /// A save was done again.
    case saveRepeated(attempt: Int)
    /// A save came through.
    case saved(rows: Int, roundTrips: Int, duration: Duration)
    /// A generation reads from a standby, which had what it must see after so long.
    case standbyRead(waited: Duration)
    /// No standby had in time what a generation must see, or none was there.
    case standbysPassedOver(waited: Duration)
    /// A generation has waited for others to be let go.
    case generationWaited(Duration)
    /// A generation was refused: nobody let go of one in time, or too many wait.
    case generationRefused(after: Duration)
}

/// Takes what happens, for whatever a program collects its figures with.
///
/// ```swift
/// struct Counters: NSPostgreSQLMetrics {
///     func record(_ event: NSPostgreSQLEvent) {
///         if case .serverFound(let time) = event { failovers.increment(); failoverTime.record(time) }
///     }
/// }
/// NSPostgreSQLMetricsReceiver.set(Counters())
/// ```
public protocol NSPostgreSQLMetrics: Sendable {
    /// Takes an event. Whoever saves or reads waits for this, so that it must be quick.
    ///
    /// - Parameter event: what happened.
    func record(_ event: NSPostgreSQLEvent)
}

/// Who takes what happens in this process.
public enum NSPostgreSQLMetricsReceiver {
    private static let receiver = Mutex<(any NSPostgreSQLMetrics)?>(nil)
    private static let isSet = Atomic<Bool>(false)

    /// Names who takes what happens from now on.
    ///
    /// - Parameter metrics: who; `nil` for nobody.
    public static func set(_ metrics: (any NSPostgreSQLMetrics)?) {
        receiver.withLock { $0 = metrics }
        isSet.store(metrics != nil, ordering: .relaxed)
    }

    /// Tells of an event, which is not even made where nobody takes it.
    @inline(__always)
    static func record(_ event: @autoclosure () -> NSPostgreSQLEvent) {
        guard isSet.load(ordering: .relaxed) else { return }
        receiver.withLock { $0 }?.record(event())
    }
}
