import Foundation
import PredicateFormat
import Testing

@Suite("Values as arguments of format strings")
struct FormatArgumentTests {
    @Test("What Foundation bridges on Apple's platforms is passed as CVarArg, and compares as itself")
    func cVarArg() throws {
        let id = UUID()
        let day = Date(timeIntervalSinceReferenceDate: 3)
        let object: [String: Any] = ["id": id, "day": day, "count": 3]
        #expect(NSPredicate(format: "id == %@", id as CVarArg).evaluate(with: object))
        #expect(NSPredicate(format: "id == %@", NSUUID() as CVarArg).evaluate(with: object) == false)
        #expect(NSPredicate(format: "day <= %@ AND day >= %@", day as CVarArg, day as NSDate).evaluate(with: object))
        #expect(NSPredicate(format: "id IN %@", [id] as CVarArg).evaluate(with: object))
        #expect(NSPredicate(format: "id IN %@", Set([id]) as CVarArg).evaluate(with: object))
        #expect(NSPredicate(format: "count == %@", NSNumber(value: 3) as CVarArg).evaluate(with: object))
        #expect(NSPredicate(format: "count == %@", Decimal(3) as CVarArg).evaluate(with: object))
    }

    private enum Key: String, CVarArg {
        case count
        var _cVarArgEncoding: [Int] { [] }
    }

    private enum Level: Int, CVarArg {
        case high = 3
        var _cVarArgEncoding: [Int] { rawValue._cVarArgEncoding }
    }

    @Test("An enumeration that a program makes an argument stands for its raw value (MovieDB)")
    func rawValues() {
        let object: [String: Any] = ["count": 3, "name": "count"]
        #expect(NSPredicate(format: "%K == %d", Key.count, Level.high).evaluate(with: object))
        #expect(NSPredicate(format: "name == %@", Key.count).evaluate(with: object))
    }

    @Test("An expression is part of the expression that it is an argument of, however this is made")
    func expressions() throws {
        let factor = NSExpression(forKeyPath: "factor")
        let object: [String: Any] = ["price": 4, "factor": 3]
        for expression in [
            NSExpression(format: "price * %@", factor), try NSExpression(parsing: "price * %@", arguments: [factor]),
        ] {
            #expect(expression.description == "price * factor")
            #expect(Value(expression.expressionValue(with: object, context: nil)) == .integer(12))
        }
    }

    @Test("Functions with variable arguments hand them on as an array")
    func handedOn() {
        func predicate(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
            NSPredicate(format: format, argumentArray: arguments)
        }
        let id = UUID()
        #expect(predicate("id == %@ AND count == %d", id, 3).evaluate(with: ["id": id, "count": 3] as [String: Any]))
    }

    @Test("String(format:) prints them as they describe themselves")
    func printed() throws {
        let id = UUID()
        let url = try #require(NSURL(string: "https://example.org"))
        #expect(String(format: "%@ %@ %d", id, [1, 2], 3) == "\(id.uuidString) [1, 2] 3")
        #expect(String(format: "%@ %@", NSNumber(value: 4), url) == "4 https://example.org")
    }
}
