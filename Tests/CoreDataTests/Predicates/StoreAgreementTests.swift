import CoreData
import Foundation
import Testing

/// Each predicate finds the same in SQL and in memory, whether changes are saved or not.
@MainActor @Suite("Stores agree")
struct StoreAgreementTests {
    @Test(
        "Decimals beside fractions stand for the fraction nearest to each",
        arguments: [
            "price == 19.99", "price IN {19.99, 7}", "price BETWEEN {19.99, 20}", "price <= 19.99 AND price > 1",
            "price >= 19.99 AND price < 20", "author.books.@max.price == 19.99 AND nick == '5'",
        ])
    func decimalsBesideFractions(format: String) throws {
        try ComparedStores().check("Book", format, finds: ["b1"])
    }

    @Test("Decimals as arguments agree, beside fractions and beside what is computed of them")
    func decimalArguments() throws {
        let stores = try ComparedStores()
        try stores.check("Book", "price == %@", [19.99], finds: ["b1"])
        try stores.check("Book", "score == %@", [NSDecimalNumber(string: "19.99")], finds: ["b2"])
        try stores.check("Author", "ANY books.price == 19.99", finds: ["ada"])
        try stores.check("Author", "books.@max.price == %@", [NSDecimalNumber(string: "19.99")], finds: ["ada"])
    }

    @Test("Whole decimals that no fraction holds agree beside whole numbers")
    func wideDecimals() throws {
        let stores = try ComparedStores()
        let wide = NSDecimalNumber(string: "9007199254740993")
        try stores.check("Book", "age == %@", [wide], finds: ["b2"])
        try stores.check("Book", "age IN %@", [[wide]], finds: ["b2"])
        try stores.check("Book", "age < %@ AND age > 100", [wide], finds: ["b3"])
        try stores.check("Author", "books.@max.age == %@", [wide], finds: ["ada"])
    }

    @Test("Dates beside numbers are seconds since 2001")
    func datesBesideNumbers() throws {
        let stores = try ComparedStores()
        for format in ["born > 5000", "born == 5000.25", "born BETWEEN {0, 6000}", "born IN {5000.25}", "5001 > born"] {
            try stores.check("Book", format, finds: ["b1"])
        }
        try stores.check("Book", "born != 5000.25", finds: ["b2", "b3", "b4", "b5"])
        try stores.check("Book", "born == %@", [NSDecimalNumber(string: "5000.25")], finds: ["b1"])
    }

    @Test("A to-one relationship without an object, after a relationship to many, leads to the same")
    func behindNothing() throws {
        let stores = try ComparedStores()
        try stores.check("Author", "ANY books.publisher.awards.name == nil", finds: [])
        try stores.check("Author", "NONE books.publisher.awards.name == nil", finds: ["ada", "bob", "cid"])
        try stores.check("Author", "ALL books.publisher.awards.name == 'w1'", finds: ["ada", "bob", "cid"])
        try stores.check("Author", "books.publisher.awards == nil", finds: ["cid"])
        try stores.check("Author", "nil IN books.publisher.awards.name", finds: [])
        try stores.check("Shop", "ANY authors.books.publisher.awards.name == nil", finds: [])
        try stores.check("Author", "ANY books.publisher.name == nil", finds: ["ada", "cid"])
    }

    @Test("Subqueries of what lies behind two relationships to many have the same result")
    func furtherSubqueries() throws {
        let stores = try ComparedStores()
        try stores.check("Shop", "SUBQUERY(authors.books, $b, TRUEPREDICATE).@count == 3", finds: ["s1"])
        try stores.check("Shop", "SUBQUERY(authors.books, $b, $b.age > 20).@count == 2", finds: ["s1"])
        try stores.check("Shop", "SUBQUERY(authors.books, $b, $b.age > 10).@max.score > 19", finds: ["s1"])
        try stores.check("Shop", "SUBQUERY(authors.books.publisher, $p, $p.name == 'p1').@count == 2", finds: ["s1"])
        try stores.check(
            "Shop", "SUBQUERY(authors.books.publisher.awards, $w, $w.name == 'w1').@count == 2", finds: ["s1"])
        try stores.check("Shop", "authors.books.@count == 1", finds: ["s2"])
        try stores.check("Shop", "authors.books.@max.age > 20", finds: ["s1"])
        try stores.check("Author", "books.@max.name.length == 2", finds: ["ada", "bob", "cid"])
    }

    @Test("A subquery in another one whose variable has the same name has the same result")
    func variableOfTheSameName() throws {
        try ComparedStores().check(
            "Author", "SUBQUERY(books.publisher, $p, SUBQUERY($p.awards, $p, $p.name == 'w1').@count == 1).@count == 1",
            finds: ["ada", "bob"])
    }

    @Test("A to-one relationship without an object is not the same as another object")
    func missingObjects() throws {
        let stores = try ComparedStores()
        let publisher = try #require(stores.contexts[0].context.all("Publisher").first)
        for (type, context) in stores.contexts {
            let object = try #require(context.all("Publisher").first)
            let found = try context.all("Book", NSPredicate(format: "publisher.self != %@", object), by: "name")
            #expect(found.map { $0.string("name") } == ["b2", "b4", "b5"], "\(type)")
        }
        _ = publisher
        try stores.check("Book", "author == author.self", finds: ["b1", "b2", "b3", "b4", "b5"])
    }

    @Test("A list of values with nil among them finds the same")
    func nilAmongValues() throws {
        let stores = try ComparedStores()
        try stores.check("Book", "nil IN {nick, author.name}", finds: ["b2", "b4", "b5"])
        try stores.check("Book", "%@ IN {nick, age}", [nil], finds: ["b2", "b4", "b5"])
        try stores.check("Book", "nil IN {nick, nil}", finds: ["b1", "b2", "b3", "b4", "b5"])
    }

    @Test("Nothing equals NaN in any store")
    func notANumber() throws {
        let stores = try ComparedStores()
        try stores.check("Book", "score != %@", [2.5], finds: ["b2", "b3", "b4", "b5"])
        try stores.check("Book", "score != %@", [Double.nan], finds: ["b1", "b2", "b3", "b4", "b5"])
        try stores.check("Book", "score == %@", [Double.nan], finds: [])
    }

    @Test("Bits of fractions are those of their whole parts")
    func bitsOfFractions() throws {
        let stores = try ComparedStores()
        try stores.check("Book", "score & 2 == 2", finds: ["b1", "b2"])
        try stores.check("Book", "score << 1 == 4", finds: ["b1"])
        try stores.check("Book", "~score == -3", finds: ["b1"])
        try stores.check("Book", "price | 1 == 19", finds: ["b1"])
    }

    @Test("Sizes of what is behind the variable of a subquery agree")
    func sizesInSubqueries() throws {
        let stores = try ComparedStores()
        try stores.check(
            "Author", "SUBQUERY(books, $b, $b.publisher.books[SIZE] == 2).@count == 1", finds: ["ada", "bob"])
        try stores.check(
            "Author", "SUBQUERY(books, $b, count:($b.publisher.books) == 2).@count == 1", finds: ["ada", "bob"])
        try stores.check(
            "Author", "SUBQUERY(books, $b, max:($b.author.books.age) > 20).@count > 0", finds: ["ada", "bob"])
    }

    @Test("Texts in numbers are searched by their digits, and so are numbers in texts")
    func textsInNumbers() throws {
        let stores = try ComparedStores()
        for format in [
            "age BEGINSWITH '15'", "age LIKE '1?'", "age MATCHES '1.'", "age ENDSWITH[c] '15'", "score CONTAINS '.5'",
            "nick CONTAINS 5", "age == 15 AND '1509' CONTAINS age", "age IN '15,9'", "score IN '2.50'",
            "5 IN nick",
        ] {
            try stores.check("Book", format, finds: ["b1"])
        }
        try stores.check("Book", "age CONTAINS '47409'", finds: ["b2", "b3"])
        try stores.check("Book", "age CONTAINS 'x' OR age CONTAINS '05'", finds: [])
        #expect(
            try stores.error("Book", "nick CONTAINS born").contains("CONTAINS compares texts, and “born” holds dates"))
    }

    @Test("A text that spells a UUID in the request of a FETCH finds the same")
    func uuidsInFetches() throws {
        let stores = try ComparedStores()
        for (type, context) in stores.contexts {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "token == 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'")
            let fetch = NSFetchRequestExpression.expression(
                forFetch: CoreData.NSExpression(forConstantValue: request),
                context: CoreData.NSExpression(forConstantValue: context), countOnly: false)
            let found = try context.all("Book", NSPredicate(format: "SELF IN %@", fetch))
            #expect(found.map { $0.string("name") } == ["b1"], "\(type)")
        }
    }

    @Test("Remainders of decimals are the same")
    func remainders() throws {
        try ComparedStores().check("Book", "modulus:by:(price, 4) == 3 AND price < 100", finds: ["b1"])
    }

    @Test("Averages of dates are seconds since 2001")
    func averagesOfDates() throws {
        let stores = try ComparedStores()
        try stores.check("Author", "books.@avg.born == 5000.25", finds: ["ada"])
        for (type, context) in stores.contexts {
            let average = NSExpressionDescription()
            average.name = "average"
            average.expression = CoreData.NSExpression(format: "average:(born)")
            average.expressionResultType = .doubleAttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [average]
            #expect(try context.fetch(request).first?["average"] as? Double == 5000.25, "\(type)")
        }
    }

    @Test("The order of conditional texts is not that of a language")
    func orderOfConditionalTexts() throws {
        try ComparedStores().check(
            "Book", "TERNARY(age > 20, 'a', 'B') < 'b'", finds: ["b1", "b2", "b3", "b4", "b5"])
    }

    @Test("Conditional texts that are compared without regard to case find the same")
    func conditionalTexts() throws {
        try ComparedStores().check(
            "Book", "TERNARY(age > 20, 'A', 'B') ==[c] TERNARY(age > 20, 'a', 'c')", finds: ["b2", "b3"])
    }
}
