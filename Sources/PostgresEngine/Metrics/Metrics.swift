import Synchronization

/// Events between a program and its servers, for metrics.
public enum NSPostgreSQLEvent: Hashable, Sendable {
    /// A server was lost, with the state that PostgreSQL or its library reported.
    case serverLost(state: String)
    /// A server that takes writes was found after the loss of one.
    case serverFound(after: Duration)
    /// No server was found in time.
    case serverNotFound(after: Duration)
    /// The outcome of a save whose answer was lost is known.
    case saveDecided(isSaved: Bool, after: Duration)
    /// The outcome of a save whose answer was lost could not be found out in time.
    case saveUndecided(after: Duration)
    /// A save was run again.
    case saveRepeated(attempt: Int)
    /// A save was committed.
    case saved(rows: Int, roundTrips: Int, duration: Duration)
    /// A generation reads from a standby, which had what it must see after the given time.
    case standbyRead(waited: Duration)
    /// No standby was there, or had what a generation must see in time.
    case standbysPassedOver(waited: Duration)
    /// A generation has waited for others to be released.
    case generationWaited(Duration)
    /// A generation was refused: none was released in time, or too many are waiting.
    case generationRefused(after: Duration)
}

/// Receives events, for whichever system collects a program's metrics.
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
    /// Receives an event. Saves and readings wait for this call, so it must be quick.
    ///
    /// - Parameter event: what happened.
    func record(_ event: NSPostgreSQLEvent)
}

/// The receiver of events in this process.
public enum NSPostgreSQLMetricsReceiver {
    private static let receiver = Mutex<(any NSPostgreSQLMetrics)?>(nil)
    private static let isSet = Atomic<Bool>(false)

    /// Sets the receiver of all events from now on.
    ///
    /// - Parameter metrics: the receiver; `nil` for none.
    public static func set(_ metrics: (any NSPostgreSQLMetrics)?) {
        receiver.withLock { $0 = metrics }
        isSet.store(metrics != nil, ordering: .relaxed)
    }

    /// Reports an event, which is not even created without a receiver.
    @inline(__always)
    static func record(_ event: @autoclosure () -> NSPostgreSQLEvent) {
        guard isSet.load(ordering: .relaxed) else { return }
        receiver.withLock { $0 }?.record(event())
    }
}
