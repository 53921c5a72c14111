import CoreData
import TestSupport
import Testing
import SQLGeneration

/// Predicates of many terms, so that reading a format and writing SQL take most of the time that their first fetch
/// takes.
@MainActor @Suite("A repeated fetch")
struct RepeatedFetchTests {
    private func library() throws -> (TestFolder, NSManagedObjectContext) {
        let folder = try TestFolder()
        let container = try Library.stored(at: folder.file("library.sqlite"))
        for price in 1...9 { container.viewContext.make("Book", ["title": "b\(price)", "price": Double(price)]) }
        try container.viewContext.save()
        return (folder, container.viewContext)
    }

    /// The time that work of a form takes that was not seen before, over the time of a form that comes again, with
    /// other values. Both are the shortest of several, in time of the processor, so that what else runs does not count.
    ///
    /// It is about 2.7; where SQL is generated again, and only SQLite's statement for it is found, it was seen at 1.5.
    private func saving(_ work: (_ form: Int, _ value: Double) throws -> Void) rethrows -> Double {
        func time(_ form: Int, _ value: Double) throws -> Double {
            try processorTime { try work(form, value) }
        }
        try work(0, 0)
        let times = try (1..<64).map { (new: try time($0, 0), again: try time(0, Double($0 % 10))) }
        return (times.map(\.new).min() ?? 0) / (times.map(\.again).min() ?? 1)
    }

    /// The keys of a predicate's terms: other ones for each form, the first of which is always the price.
    private func keys(_ form: Int) -> [String] {
        ["price"] + (0..<200).map { form >> ($0 % 6) & 1 == 0 ? "title" : "isbn" }
    }

    /// Books above a price, with terms around it that hold for all of them.
    private func predicate(_ form: Int, _ price: Double) -> NSPredicate {
        let terms = keys(form).map { key in
            NSComparisonPredicate(
                leftExpression: CoreData.NSExpression(forKeyPath: key),
                rightExpression: CoreData.NSExpression(forConstantValue: key == "price" ? price : "x"),
                modifier: .direct, type: key == "price" ? .greaterThan : .notEqualTo)
        }
        return NSCompoundPredicate(andPredicateWithSubpredicates: terms)
    }

    @Test("does not parse its format again")
    func parsing() {
        let saving = saving { form, value in
            let keys = keys(form)
            let format = keys.map { $0 == "price" ? "price > %f" : "\($0) != %@" }.joined(separator: " AND ")
            let predicate = NSPredicate(format: format, argumentArray: [value] + keys.dropFirst().map { _ in "x" })
            #expect(predicate.evaluate(with: ["price": 3.5, "title": "a", "isbn": "b"]) == (value < 3.5))
        }
        #expect(saving > 1.8)
    }

    @Test("does not generate its SQL again, whether of objects, of their number or of dictionaries")
    func statements() throws {
        let (folder, context) = try library()
        defer { withExtendedLifetime(folder) {} }
        let ofObjects = try saving { form, price in
            let found = try context.all("Book", predicate(form, price), by: "title")
            #expect(found.count == max(0, 9 - Int(price)))
        }
        #expect(ofObjects > 1.8)
        let ofCounts = try saving { form, price in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = predicate(form, price)
            let count = try context.count(for: request)
            #expect(count == max(0, 9 - Int(price)))
        }
        #expect(ofCounts > 1.8)
        let ofDictionaries = try saving { form, price in
            let highest = NSExpressionDescription()
            highest.name = "highest"
            highest.expression = CoreData.NSExpression(format: "max:(price)")
            highest.expressionResultType = .doubleAttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", highest]
            request.propertiesToGroupBy = ["title"]
            request.havingPredicate = NSPredicate(format: "$highest < 9")
            request.predicate = predicate(form, price)
            let found = try context.fetch(request)
            #expect(found.count == max(0, 8 - Int(price)))
        }
        #expect(ofDictionaries > 1.8)
    }

    @Test("is another fetch where its dictionaries are others")
    func otherDictionaries() throws {
        let (folder, context) = try library()
        defer { withExtendedLifetime(folder) {} }
        func titles(_ group: String, _ having: Double, distinct: Bool = false) throws -> Int {
            let count = NSExpressionDescription()
            count.name = "number"
            count.expression = CoreData.NSExpression(format: "count:(title)")
            count.expressionResultType = .integer64AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = distinct ? ["isbn"] : [group, count]
            request.returnsDistinctResults = distinct
            if !distinct {
                request.propertiesToGroupBy = [group]
                request.havingPredicate = NSPredicate(format: "number > %f", having)
            }
            return try context.fetch(request).count
        }
        #expect(try titles("title", 0) == 9)
        #expect(try titles("title", 1) == 0)
        #expect(try titles("isbn", 0) == 1)
        #expect(try titles("", 0, distinct: true) == 1)
    }
}
