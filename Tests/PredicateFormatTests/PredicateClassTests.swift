import PredicateFormat
import Testing

@Suite("Predicate objects")
struct PredicateClassTests {
    @Test("are equal when they say the same, and then hash alike")
    func equality() {
        let first = NSPredicate(format: "name == %@ AND age > %d", "a", 1)
        let second = NSPredicate(format: "name = 'a' && age > 1")
        #expect(first == second)
        #expect(first.hash == second.hash)
        #expect(first != NSPredicate(format: "name == 'b' AND age > 1"))
        #expect(NSPredicate(format: "a == 1") == NSPredicate(format: "a == %@", 1.0))
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "a ==[c] 1"))
        #expect(Set([first, second]).count == 1)
    }

    @Test("are copied as themselves")
    func copying() {
        let predicate = NSPredicate(format: "name == 'a'")
        #expect(predicate.copy() as? NSPredicate === predicate)
        let compound = NSPredicate(format: "name == 'a' OR name == 'b'")
        #expect(compound.copy() as? NSPredicate === compound)
    }

    @Test("give the parts of a comparison")
    func parts() throws {
        let predicate = NSPredicate(format: "ANY books.title BEGINSWITH[cd] %@", "x")
        let comparison = try #require(predicate as? NSComparisonPredicate)
        #expect(comparison.leftExpression == NSExpression(forKeyPath: "books.title"))
        #expect(comparison.rightExpression.constantValue as? String == "x")
        #expect(comparison.comparisonPredicateModifier == .any)
        #expect(comparison.predicateOperatorType == .beginsWith)
        #expect(comparison.options == [.caseInsensitive, .diacriticInsensitive])
    }

    @Test("are made of expressions")
    func make() throws {
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "age"), rightExpression: NSExpression(forConstantValue: 18),
            modifier: .direct, type: .greaterThanOrEqualTo)
        #expect(predicate == NSPredicate(format: "age >= 18"))
        #expect(predicate.evaluate(with: ["age": 20]))
    }

    @Test("are Foundation's own if they are constants")
    func constants() {
        #expect(NSPredicate(format: "TRUEPREDICATE") == NSPredicate(value: true))
        #expect(NSPredicate(format: "FALSEPREDICATE").evaluate(with: nil) == false)
    }

    @Test("filter arrays, sets and ordered sets, in place, too")
    func filtering() {
        let predicate = NSPredicate(format: "SELF > 1 AND SELF != 3")
        let numbers: [Any] = [1, 2, 3, 4]
        #expect((numbers as NSArray).filtered(using: predicate) as? [Int] == [2, 4])
        let filtered = NSSet(array: numbers).filtered(using: predicate)
        #expect(filtered.compactMap { $0.base as? Int }.sorted() == [2, 4])
        #expect(NSOrderedSet(array: numbers).filtered(using: predicate).array as? [Int] == [2, 4])
        let array = NSMutableArray(array: numbers)
        array.filter(using: predicate)
        #expect(array as? [Int] == [2, 4])
        let set = NSMutableOrderedSet(array: numbers)
        set.filter(using: predicate)
        #expect(set.array as? [Int] == [2, 4])
    }

    @Test("take values for their variables, in a copy or while they are evaluated")
    func variables() {
        let template = NSPredicate(format: "year > $YEAR AND ANY tags == $TAG")
        let object: [String: Any] = ["year": 1995, "tags": ["a", "b"]]
        #expect(template.evaluate(with: object, substitutionVariables: ["YEAR": 1990, "TAG": "a"]))
        #expect(!template.evaluate(with: object, substitutionVariables: ["YEAR": 2000, "TAG": "a"]))
        let recent = template.withSubstitutionVariables(["YEAR": 1990])
        #expect(recent == NSPredicate(format: "year > 1990 AND ANY tags == $TAG"))
        #expect(recent.withSubstitutionVariables(["TAG": "b"]).evaluate(with: object))
        #expect(
            template.withSubstitutionVariables(["YEAR": NSNull()])
                == NSPredicate(format: "year > nil AND ANY tags == $TAG"))
    }

    @Test("may be used from many threads")
    func threads() async {
        let results = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<1000).filter { number in
                        NSPredicate(format: "SELF < %d AND %K >= 0", 500, "self").evaluate(with: number) || number < 0
                    }.count
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 8)
    }
}

@Suite("Expression objects")
struct ExpressionClassTests {
    @Test("say what they are")
    func types() {
        #expect(NSExpression(forConstantValue: 1).expressionType == .constantValue)
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
        #expect(NSExpression(forVariable: "x").variable == "x")
        #expect(NSExpression(forKeyPath: "a.b").keyPath == "a.b")
        let function = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "price")])
        #expect(function.expressionType == .function)
        #expect(function.function == "max:")
        #expect(function.arguments == [NSExpression(forKeyPath: "price")])
        let union = NSExpression(forUnionSet: NSExpression(forKeyPath: "a"), with: NSExpression(forKeyPath: "b"))
        #expect(union.expressionType == .unionSet)
        #expect(union.left.keyPath == "a")
        let subquery = NSExpression(
            forSubquery: NSExpression(forKeyPath: "a"), usingIteratorVariable: "x",
            predicate: NSPredicate(format: "$x > 1"))
        #expect(subquery.description == "SUBQUERY(a, $x, $x > 1)")
        #expect(subquery.predicate == NSPredicate(format: "$x > 1"))
    }

    @Test("come as sets if they are of sets, whatever they were made of")
    func sets() {
        let (left, right) = (NSExpression(forConstantValue: Set([1, 2])), NSExpression(forConstantValue: [2, 3]))
        func value(_ expression: NSExpression) -> NSSet? {
            expression.expressionValue(with: nil, context: nil) as? NSSet
        }
        #expect(value(NSExpression(forUnionSet: left, with: right)) == NSSet(array: [1, 2, 3]))
        #expect(value(NSExpression(forIntersectSet: left, with: right)) == NSSet(array: [2]))
        #expect(value(NSExpression(forMinusSet: left, with: right)) == NSSet(array: [1]))
    }

    @Test("are equal when they say the same")
    func equality() {
        #expect(NSExpression(format: "a + 1") == NSExpression(format: "a+%d", 1))
        #expect(NSExpression(forAggregate: [1, "a"]) == NSExpression(format: "{1, 'a'}"))
        #expect(NSExpression(format: "a") != NSExpression(format: "b"))
    }

    @Test("are evaluated, numbers coming back as NSNumber")
    func evaluation() {
        let expression = NSExpression(format: "price * $factor")
        let value = expression.expressionValue(with: ["price": 4], context: ["factor": 2])
        #expect(value as? Int == 8)
        #expect(value is NSNumber)
    }

    @Test("throw if their format does not parse")
    func malformed() {
        #expect(throws: PredicateFormatError.self) { try NSExpression(parsing: "1 +") }
        #expect(throws: PredicateFormatError.self) { try NSExpression(parsing: "a == 1") }
    }
}
