import PredicateFormat
import Testing

@Suite("A compound predicate that a program makes")
struct CompoundPredicateTests {
    private let adult = NSPredicate(format: "age >= 18")
    private let named = NSPredicate(format: "name == 'a'")

    @Test("prints as the format string says it")
    func format() {
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [adult, named])
        #expect(formatString(of: both) == #"age >= 18 AND name == "a""#)
        #expect(both.description == #"age >= 18 AND name == "a""#)
        let either = NSCompoundPredicate(orPredicateWithSubpredicates: [both, NSPredicate(value: true)])
        #expect(either.description == #"(age >= 18 AND name == "a") OR TRUEPREDICATE"#)
        #expect(NSCompoundPredicate(notPredicateWithSubpredicate: either).description.hasPrefix("NOT ((age"))
        #expect(NSCompoundPredicate(type: .and, subpredicates: []).description == "TRUEPREDICATE")
        #expect(NSCompoundPredicate(type: .or, subpredicates: []).description == "FALSEPREDICATE")
        #expect(NSCompoundPredicate(type: .or, subpredicates: [adult]).description == "age >= 18")
    }

    @available(*, deprecated, message: "Foundation marks predicateFormat so")
    @Test("gives its predicateFormat through any reference")
    func predicateFormat() {
        let compound: NSPredicate = NSCompoundPredicate(andPredicateWithSubpredicates: [adult, named])
        #expect(compound.predicateFormat == #"age >= 18 AND name == "a""#)
    }

    @Test("equals one that a format string makes, both ways, and hashes alike")
    func equality() {
        let made = NSCompoundPredicate(andPredicateWithSubpredicates: [adult, named])
        let parsed = NSPredicate(format: "age >= 18 AND name == 'a'")
        #expect(made == parsed)
        #expect(parsed == made)
        #expect(made.hash == parsed.hash)
        #expect(Set<NSPredicate>([made, parsed]).count == 1)
        #expect(made != NSCompoundPredicate(orPredicateWithSubpredicates: [adult, named]))
        #expect(made != NSCompoundPredicate(andPredicateWithSubpredicates: [adult]))
        #expect(made != NSPredicate(value: false))
    }

    @Test("equals one of the same parts, with code inside, too")
    func blocks() {
        let block = NSPredicate { _, _ in true }
        let made = NSCompoundPredicate(andPredicateWithSubpredicates: [adult, block])
        #expect(made == NSCompoundPredicate(andPredicateWithSubpredicates: [adult, block]))
        #expect(made != NSCompoundPredicate(andPredicateWithSubpredicates: [adult, NSPredicate { _, _ in true }]))
        #expect(made.description == "age >= 18 AND BLOCKPREDICATE")
        #expect(made.evaluate(with: ["age": 20]))
    }

    @Test("is copied with its parts")
    func copying() throws {
        let made = NSCompoundPredicate(orPredicateWithSubpredicates: [adult, named])
        let copy = try #require(made.copy() as? NSCompoundPredicate)
        #expect(copy == made)
        #expect(copy.compoundPredicateType == .or)
        #expect(copy.evaluate(with: ["age": 20]))
    }

    @Test("keeps its parts and evaluates as before")
    func parts() {
        let made = NSCompoundPredicate(notPredicateWithSubpredicate: adult)
        #expect(type(of: made) == NSCompoundPredicate.self)
        #expect(made.subpredicates == [adult])
        #expect(made.evaluate(with: ["age": 3]))
        let variable = NSPredicate(format: "age >= $limit")
        let template = NSCompoundPredicate(andPredicateWithSubpredicates: [variable, named])
        #expect(template.evaluate(with: ["age": 3, "name": "a"], substitutionVariables: ["limit": 2]))
        let limited = template.withSubstitutionVariables(["limit": 2])
        #expect(limited == NSPredicate(format: "age >= 2 AND name == 'a'"))
    }

    @Test("is made of any format, one of a single comparison, too")
    func ofAnyFormat() throws {
        let single = NSCompoundPredicate(format: "age IN %@", [3, 4])
        #expect(single.subpredicates == [NSPredicate(format: "age IN %@", [3, 4])])
        #expect(single.description == "age IN {3, 4}")
        #expect(single.evaluate(with: ["age": 3]) && !single.evaluate(with: ["age": 5]))
        #expect(NSCompoundPredicate(format: "age > 1 OR name == 'a'").compoundPredicateType == .or)
        #expect(try NSCompoundPredicate(parsing: "TRUEPREDICATE").evaluate(with: [:]))
        #expect(throws: PredicateFormatError.self) { try NSComparisonPredicate(parsing: "a == 1 AND b == 2") }
    }
}
