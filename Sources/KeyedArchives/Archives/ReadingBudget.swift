import Foundation
import Synchronization

/// How many steps the reading of one archive may take.
///
/// Objects of an archive may share others, and a reader that follows references meets a shared object once for every
/// path to it. A small file can have more paths than any machine can follow; an honest one has a few for each object.
final class ReadingBudget: Sendable {
    private let limit: Int
    private let steps = Atomic<Int>(0)
    private let copied = Atomic<Int>(0)
    private let comparisonLimit: Int
    private let comparisons = Atomic<Int>(0)
    /// 0 until it is needed.
    private let copyLimit = Atomic<Int>(0)
    /// The archives of single objects, by the objects' numbers.
    let fragments = Mutex<[Int: Data]>([:])

    init(objectCount: Int) {
        limit = 50_000 + 100 * objectCount
        // Foundation compares some ten thousands of data a second. Its hash of short data has up to 16 that differ in
        // their last two bytes.
        comparisonLimit = 20_000 + 16 * objectCount
    }

    func spend(_ count: Int = 1) throws(KeyedArchiveError) {
        guard steps.add(count, ordering: .relaxed).newValue <= limit else {
            throw KeyedArchiveError(
                reason: "reading it takes more than \(limit) steps, because its objects share one another too often")
        }
    }

    /// Counts comparisons of values that have one hash, for a set or a dictionary that is made of them.
    ///
    /// - Returns: whether they may be made.
    func compare(_ count: Int) -> Bool { comparisons.add(count, ordering: .relaxed).newValue <= comparisonLimit }

    /// Counts bytes of texts and data that are copied: an object may be copied for every one that refers to it.
    func copy(_ count: Int, of objects: [PropertyList]) throws(KeyedArchiveError) {
        let total = copied.add(count, ordering: .relaxed).newValue
        guard total > CopyLimit.free else { return }
        var limit = copyLimit.load(ordering: .relaxed)
        if limit == 0 {
            limit = CopyLimit.bytes(of: objects.reduce(0) { $0 + $1.byteCount })
            copyLimit.store(limit, ordering: .relaxed)
        }
        guard total <= limit else { throw KeyedArchiveError(reason: CopyLimit.reason(limit)) }
    }
}

/// How many bytes readers may copy from a file whose objects share large values.
package enum CopyLimit {
    static let free = 64 << 20

    /// - Parameter size: the size of the file, or of the values in it.
    /// - Returns: the limit.
    package static func bytes(of size: Int) -> Int { free + 16 * size }

    /// Why a file is refused, as the end of a sentence.
    package static func reason(_ limit: Int) -> String {
        "reading it takes more than \(limit) bytes, because its objects share large values too often"
    }
}
