import Foundation

/// What keeps a predicate from saying yes or no of a value, such as a regular expression that takes too long.
///
/// Predicates answer with a Boolean, so they cannot throw. The failure is noted for the thread, and thrown by the code that called
/// ``throwing(_:)`` around the evaluation: fetches, counts, SQL functions. Elsewhere it is written to the standard error output, and the
/// comparison does not hold.
package enum EvaluationFailure {
    /// The first failure while somebody listens; in the thread's dictionary.
    private final class Record: NSObject {
        var reason: String?
    }

    private static let key = "PredicateFormat.EvaluationFailure"

    private static var record: Record? { Thread.current.threadDictionary[key] as? Record }

    /// Runs what evaluates predicates.
    ///
    /// - Throws: what the body throws; an ``UnevaluatedPredicateError`` when a predicate could not be evaluated meanwhile.
    package static func throwing<Result>(_ body: () throws -> Result) throws -> Result {
        let outer = record
        let mine = Record()
        Thread.current.threadDictionary[key] = mine
        defer { Thread.current.threadDictionary[key] = outer }
        let result = try body()
        if let reason = mine.reason {
            throw UnevaluatedPredicateError(reason: reason)
        }
        return result
    }

    /// Whether a failure was noted that will be thrown: there is no use in further work.
    static var isNoted: Bool { record?.reason != nil }

    static func note(_ reason: String) {
        if let record {
            record.reason = record.reason ?? reason
        } else {
            try? FileHandle.standardError.write(contentsOf: Data("Predicate: error: \(reason)\n".utf8))
        }
    }
}

/// Why a predicate could not be evaluated.
package struct UnevaluatedPredicateError: LocalizedError {
    let reason: String
    package var errorDescription: String? { "The predicate cannot be evaluated: \(reason)." }
}
