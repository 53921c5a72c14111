import Synchronization

/// How many steps the reading of one archive may take.
///
/// Objects of an archive may share others, and a reader that follows references meets a shared object once for every
/// path to it. A small file can have more paths than any machine can follow; an honest one has a few for each object.
final class ReadingBudget: Sendable {
    private let limit: Int
    private let steps = Atomic<Int>(0)

    init(objectCount: Int) { limit = 50_000 + 100 * objectCount }

    func spend(_ count: Int = 1) throws(KeyedArchiveError) {
        guard steps.add(count, ordering: .relaxed).newValue <= limit else {
            throw KeyedArchiveError(
                reason: "reading it takes more than \(limit) steps, because its objects share one another too often")
        }
    }
}
