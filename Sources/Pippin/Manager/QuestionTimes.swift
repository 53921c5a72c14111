/// What a question is about, as far as its time is foreseen by it: the models, and the type of the answer.
struct QuestionKind: Hashable {
    private let question: ObjectIdentifier
    private let answer: ObjectIdentifier

    init(question: Any.Type, answer: Any.Type) {
        (self.question, self.answer) = (ObjectIdentifier(question), ObjectIdentifier(answer))
    }
}

/// Which kinds of questions took long when they were last asked. These get a thread of their own; the others are answered on the thread of the
/// task that asks, since going to another thread and back takes longer than they do.
final class QuestionTimes: Sendable {
    /// Tasks that share the thread wait for so long at most, unless a question takes longer for the first time.
    static let longest: Duration = .milliseconds(1)

    private let long = Locked<Set<QuestionKind>>([])

    func areShort(_ kind: QuestionKind) -> Bool { long.withLock { $0.isEmpty || !$0.contains(kind) } }

    /// Asks a question, and notes whether it took long.
    func timing<Result>(_ kind: QuestionKind, _ question: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        defer { note(kind, ContinuousClock.now - start) }
        return try question()
    }

    /// Notes how long a question took.
    func note(_ kind: QuestionKind, _ time: Duration) {
        let isLong = time > Self.longest
        long.withLock { long in
            guard isLong else {
                if !long.isEmpty { long.remove(kind) }
                return
            }
            long.insert(kind)
        }
    }
}
