import CoreData
import Testing

/// A predicate of a format and its arguments, handed on as C's variable arguments are.
private func inBlock(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
    withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
}

private func asList(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
    NSPredicate(format: format, arguments: getVaList(arguments))
}

// What helpers in apps do with the arguments they were given (objc.io’s Moody, and whoever wrote after it).
@Suite("Lists of C's arguments in format strings")
struct FormatArgumentListTests {
    @Test("A predicate takes them from withVaList and from getVaList")
    func predicates() {
        let expected = "age > 30 AND name == \"Emma\" AND rating < 1.5"
        #expect(inBlock("%K > %d AND name == %@ AND rating < %f", "age", 30, "Emma", 1.5).description == expected)
        #expect(asList("%K > %d AND name == %@ AND rating < %f", "age", 30, "Emma", 1.5).description == expected)
    }

    @Test("Objects and collections are arguments, too, and what was made finds objects")
    func objects() throws {
        let context = try Library.inMemory().viewContext
        let authors = ["Emma", "Ada"].map { context.make("Author", ["name": $0]) }
        let book = context.make("Book", ["title": "A", "author": authors[0]])
        context.make("Book", ["title": "B", "author": authors[1]])
        try context.save()
        #expect(try context.all("Book", inBlock("author IN %@ AND title == %@", Set(authors), "A")) == [book])
        #expect(try context.all("Book", asList("author == %@", authors[0])) == [book])
    }

    @Test("An expression takes them, too; Swift's own list still goes where C's arguments are wanted")
    func others() {
        let arguments: [any CVarArg] = [2, 3]
        let sum = withVaList(arguments) { NSExpression(format: "%d + %d", arguments: $0) }
        #expect(sum.expressionValue(with: nil, context: nil) as? Int == 5)
        #expect(withVaList(arguments) { NSString(format: "%d/%d", arguments: $0) } == "2/3")
    }
}
