import Foundation

/// Why the evaluation of a predicate failed, such as a regular expression that takes too long.
///
/// Predicates return a Boolean, so they cannot throw. The failure is recorded for the thread, and thrown by the code
/// that called ``throwing(_:)`` around the evaluation: fetches, counts, SQL functions. Otherwise it is written to
/// standard error, and the comparison is false.
package enum EvaluationFailure {
    /// The first failure within ``throwing(_:)``; in the thread's dictionary.
    private final class Record: NSObject {
        var reason: String?
    }

    private static let key = "PredicateFormat.EvaluationFailure"

    private static var record: Record? { Thread.current.threadDictionary[key] as? Record }

    /// Runs code that evaluates predicates.
    ///
    /// - Throws: the body's error; an ``UnevaluatedPredicateError`` if the evaluation of a predicate failed.
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

    /// Whether a failure that is noted now will be thrown.
    static var isThrown: Bool { record != nil }

    /// Whether a failure was recorded that will be thrown, so that further work is useless.
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
