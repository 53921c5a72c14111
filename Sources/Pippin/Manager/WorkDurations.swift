/// A kind of work, by which its duration is predicted: the models, and the type of the result.
struct WorkKind: Hashable {
    enum Verb { case question, change }

    let verb: Verb
    private let models: ObjectIdentifier
    private let result: ObjectIdentifier

    init(_ verb: Verb, of models: Any.Type, result: Any.Type) {
        self.verb = verb
        (self.models, self.result) = (ObjectIdentifier(models), ObjectIdentifier(result))
    }
}

/// Which kinds of work took long lately. These get a thread of their own; the others are done on the thread of the task
/// that waits for them, since going to another thread and back takes longer than they do.
final class WorkDurations: Sendable {
    /// Thrown by work that finds out that it would take long.
    struct TooMuch: Error {}

    /// Tasks that share the thread wait for so long at most, unless work takes longer for the first time.
    static let longest: Duration = .milliseconds(1)

    /// After work of a kind took long, this many runs in a row must be short before it runs on the task's thread again.
    /// The number doubles each time, so that a program with short and long reads of one kind blocks that thread ever
    /// less often.
    private static let fewest = 16
    private static let most = 4096

    private struct Trial {
        /// How much work in a row must be short before the kind counts as short.
        var needed = WorkDurations.fewest
        /// How much of it is left.
        var left = 0
        /// Whether the latest work was long.
        var wasLong = false
        /// Whether the kind has counted as long before.
        var hasBeenLong = false
    }

    /// The kinds that ever took long.
    private let trials = Locked<[WorkKind: Trial]>([:])

    /// Whether work of a kind is likely to be short.
    func areShort(_ kind: WorkKind) -> Bool {
        trials.withLock { $0.isEmpty || $0[kind].map { $0.left == 0 } ?? true }
    }

    /// Does work, and notes whether it took long.
    func timing<Result>(_ kind: WorkKind, _ work: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        defer { note(kind, ContinuousClock.now - start) }
        return try work()
    }

    /// Notes how long some work took.
    func note(_ kind: WorkKind, _ time: Duration) {
        let isLong = time > Self.longest
        trials.withLock { trials in
            guard isLong || trials[kind] != nil else { return }
            var trial = trials[kind] ?? Trial()
            if !isLong {
                trial.left = max(0, trial.left - 1)
            } else if trial.left > 0 {
                trial.left = trial.needed
            } else if kind.verb == .question || trial.wasLong {
                // Any change may take long once, since a file's log is written back from time to time.
                if trial.hasBeenLong { trial.needed = min(2 * trial.needed, Self.most) }
                (trial.left, trial.hasBeenLong) = (trial.needed, true)
            }
            trial.wasLong = isLong
            trials[kind] = trial
        }
    }
}
