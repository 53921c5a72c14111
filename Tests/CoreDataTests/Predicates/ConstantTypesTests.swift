import CoreData
import Foundation
import Testing

/// `age` is 15 in the object b1, and nine quadrillions in two others.
@MainActor @Suite("Constants of one value and several types are told apart")
struct ConstantTypesTests {
    private static let two: [Any] = [NSDecimalNumber(value: 2)]

    /// A column of the object b1, computed.
    private func value(
        _ format: String, _ arguments: [Any] = [], _ type: NSAttributeType = .doubleAttributeType,
        in context: NSManagedObjectContext
    ) throws -> Any? {
        let column = NSExpressionDescription()
        (column.name, column.expressionResultType) = ("computed", type)
        column.expression = CoreData.NSExpression(format: format, argumentArray: arguments)
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.predicate = NSPredicate(format: "name == 'b1'")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [column]
        return try context.fetch(request).first?["computed"]
    }

    @Test("A column of whole numbers is divided as one, and a decimal is not, whichever is fetched first")
    func columns() throws {
        for formats in [["age / 2", "age / 2.0"], ["age / 2.0", "age / 2"]] {
            let stores = try ComparedStores()
            for (type, context) in stores.contexts {
                for format in formats {
                    let half = try value(format, in: context) as? Double
                    #expect(half == (format == "age / 2" ? 7 : 7.5), "\(type): \(format)")
                }
                #expect(try value("age / %@", Self.two, in: context) as? Double == 7.5, "\(type): a decimal")
            }
        }
    }

    @Test("A date less seconds is a date, and less a date seconds, as columns")
    func dates() throws {
        let stores = try ComparedStores()
        let date = Date(timeIntervalSinceReferenceDate: 5)
        for (type, context) in stores.contexts {
            let earlier = try value("born - 5", [], .dateAttributeType, in: context)
            #expect(earlier as? Date == Date(timeIntervalSinceReferenceDate: 4995.25), "\(type)")
            let seconds = try value("born - %@", [date], in: context)
            #expect(seconds as? Double == 4995.25, "\(type)")
        }
    }

    @Test("Predicates that are made of expressions tell the types apart")
    func expressions() throws {
        let stores = try ComparedStores()
        for (type, context) in stores.contexts {
            for (format, expected) in [("age / 2", []), ("age / 2.0", ["b1"])] {
                let predicate = NSComparisonPredicate(
                    leftExpression: CoreData.NSExpression(format: format),
                    rightExpression: CoreData.NSExpression(forConstantValue: 7.5), modifier: .direct, type: .equalTo,
                    options: [])
                #expect(try context.all("Book", predicate).map { $0.string("name") } == expected, "\(type): \(format)")
            }
        }
    }

    @Test("Conditions on groups tell the types apart")
    func groups() throws {
        let stores = try ComparedStores()
        for (type, context) in stores.contexts {
            for (format, expected) in [
                ("max:(age) / 2 == 7.5", 0), ("max:(age) / 2.0 == 7.5", 1), ("max:(age * %@) / 4 == 7.5", 1),
                ("min:(age * %@) / 4 == 7.5", 1), ("sum:(age * %@) / 4 == 7.5", 1),
            ] {
                let request = NSFetchRequest<NSDictionary>(entityName: "Book")
                request.predicate = NSPredicate(format: "name == 'b1'")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["name"]
                request.propertiesToGroupBy = ["name"]
                request.havingPredicate = NSPredicate(
                    format: format, argumentArray: format.contains("%") ? Self.two : nil)
                #expect(try context.fetch(request).count == expected, "\(type): \(format)")
            }
        }
    }

    @Test("A decimal has a fraction in divisions, though it is whole")
    func decimals() throws {
        let stores = try ComparedStores()
        for format in [
            "age / %@ == 7.5", "age * %@ / 4 == 7.5", "age / abs:(%@) == 7.5",
            "age / TERNARY(age > 20, 2.0, %@) == 7.5", "age / TERNARY(age > 20, 2, %@) == 7.5",
            "age / TERNARY(age < 20, 2, %@) == 7 AND age == 15",
        ] {
            try stores.check("Book", format, Self.two, finds: ["b1"])
        }
        try stores.check("Book", "%@ / age == 2.5", [NSDecimalNumber(string: "37.5")], finds: ["b1"])
        try stores.check("Book", "%@ / age > 1.3 AND age > 0", [NSDecimalNumber(value: 20)], finds: ["b1"])
    }

    @Test("The seconds between two dates have fractions, though the dates have none")
    func seconds() throws {
        let stores = try ComparedStores { context in
            let author = context.make("Author", ["name": "ada"])
            for (name, seconds) in [("early", 700_000_000.0), ("late", 700_000_090.0)] {
                let born = Date(timeIntervalSinceReferenceDate: seconds)
                context.make("Book", ["name": name, "born": born, "author": author])
            }
        }
        try stores.check("Book", "(author.books.@max.born - born) / 60 == 1.5", finds: ["early"])
        try stores.check("Book", "abs:(born - author.books.@max.born) / 60 == 1.5", finds: ["early"])
        try stores.check("Book", "135 / (author.books.@max.born - born) == 1.5", finds: ["early"])
        try stores.check("Book", "(CAST(born, 'NSNumber') - 700000000) / 60 == 1.5", finds: ["late"])
        try stores.check("Book", "CAST(born, 'NSNumber') / 200000000 == 3.5", finds: ["early"])
    }

    @Test("A value for a placeholder is cast, as a literal is")
    func castValues() throws {
        let born = Date(timeIntervalSinceReferenceDate: 700_000_090)
        let stores = try ComparedStores { context in
            context.make("Book", ["name": "early", "born": born.addingTimeInterval(-90)])
            context.make("Book", ["name": "late", "born": born])
        }
        try stores.check("Book", "born == CAST(%f, 'NSDate')", [700_000_090.0], finds: ["late"])
        try stores.check("Book", "born < CAST(%@, 'NSDate')", [born], finds: ["early"])
        try stores.check("Book", "name == CAST(%@, 'NSString') AND name != %@", ["early", "b"], finds: ["early"])
        let date = NSExpression(
            forFunction: "castObject:toType:",
            arguments: [NSExpression(forConstantValue: 700_000_090), NSExpression(forConstantValue: "NSDate")])
        try stores.check("Book", "born == %@", [date], finds: ["late"])
        let none = "SUBQUERY(author.books, $b, $b.born > CAST(%f, 'NSDate')).@count == 0"
        try stores.check("Book", none, [0.0], finds: ["early", "late"])
    }

    @Test("What is computed of constants only is computed before the fetch, also at the time of the fetch")
    func computedConstants() throws {
        let stores = try ComparedStores { context in
            context.make("Book", ["name": "old", "born": Date(timeIntervalSinceNow: -86400), "age": 3])
            context.make("Book", ["name": "new", "born": Date(timeIntervalSinceNow: -60), "age": 8])
        }
        let hour = "born > FUNCTION(now(), 'dateByAddingTimeInterval:', %@)"
        try stores.check("Book", hour, [-3600], finds: ["new"])
        try stores.check("Book", "NOT " + hour, [-3600], finds: ["old"])
        let cast = "born > CAST(CAST(%@, 'NSNumber') - 60, 'NSDate')"
        try stores.check("Book", cast, [Date(timeIntervalSinceNow: -3600)], finds: ["new"])
        try stores.check("Book", "ceiling(1.5) == 2 AND age == abs(%d)", [-8], finds: ["new"])
        try stores.check("Book", "age == sum(%@) AND name == lowercase(%@)", [[1, 2], "OLD"], finds: ["old"])
        try stores.check("Book", "age / 2 == 7 / 2 - 2 + age * %d", [0], finds: ["old"])
    }

    @Test("Bits are whole numbers whatever they are of")
    func bits() throws {
        let stores = try ComparedStores()
        for format in ["(score | 1) / 2 == 1", "(score & 3) / 4 == 0", "(score << 1) / 8 == 0", "~score / 2 == -1"] {
            try stores.check("Book", format + " AND age == 15", finds: ["b1"])
        }
        try stores.check("Book", "(age & %@) / 4 == 0 AND age == 15", Self.two, finds: ["b1"])
        try stores.check("Book", "age == 15 AND max:(length(name) * %@) / 8 == 0.5", Self.two, finds: ["b1"])
    }

    @Test("A batch update writes each as its own type")
    func batchUpdates() throws {
        let stores = try ComparedStores()
        let context = stores.contexts[0].context
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.predicate = NSPredicate(format: "name == 'b1'")
        update.propertiesToUpdate = ["score": CoreData.NSExpression(format: "age / %@", argumentArray: Self.two)]
        try context.execute(update)
        let book = try #require(context.all("Book", NSPredicate(format: "name == 'b1'")).first)
        #expect(book.value(forKey: "score") as? Double == 7.5)
    }
}
