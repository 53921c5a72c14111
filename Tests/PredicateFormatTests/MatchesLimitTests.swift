import Foundation
import PredicateFormat
import Testing

@Suite("MATCHES has a limit")
struct MatchesLimitTests {
    private let predicate = NSPredicate(format: "SELF MATCHES '(a+)+b|a+!'")
    private let text = String(repeating: "a", count: 40)

    @Test("A pattern that takes too many steps is reported, and does not say no")
    func exceeded() throws {
        let error = #expect(throws: UnevaluatedPredicateError.self) {
            try EvaluationFailure.throwing { predicate.evaluate(with: text) }
        }
        #expect(error?.localizedDescription.contains("(a+)+b|a+!") == true)
    }

    @Test("Texts within the limit are matched as ever")
    func within() throws {
        #expect(try EvaluationFailure.throwing { predicate.evaluate(with: "aaab") })
        #expect(try EvaluationFailure.throwing { predicate.evaluate(with: "aaa!") })
        #expect(try !EvaluationFailure.throwing { predicate.evaluate(with: "aaa?") })
        #expect(
            try EvaluationFailure.throwing {
                NSPredicate(format: "SELF MATCHES '(x|y)*'").evaluate(with: String(repeating: "xy", count: 10_000))
            })
    }

    @Test("An expression that the matcher gives up on is reported, too")
    func internalError() {
        let long = String(repeating: "xy", count: 4_000_000)
        #expect(throws: UnevaluatedPredicateError.self) {
            try EvaluationFailure.throwing { NSPredicate(format: "SELF MATCHES '(x|y)*'").evaluate(with: long) }
        }
    }

    @Test("LIKE needs no limit: it takes one pass with one place to return to")
    func like() {
        let pattern = String(repeating: "*a", count: 20) + "b"
        let long = String(repeating: "a", count: 100_000)
        #expect(!NSPredicate(format: "SELF LIKE %@", pattern).evaluate(with: long))
    }
}
