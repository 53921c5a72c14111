import CoreData
import Foundation
import TestSupport
import Testing

/// The same objects in a SQLite store and in an XML store, which evaluates in memory.
@MainActor
struct ComparedStores {
    private let folder: TestFolder
    let contexts: [(type: String, context: NSManagedObjectContext)]

    init(_ model: NSManagedObjectModel = Self.model, _ fill: (NSManagedObjectContext) throws -> Void = Self.fill) throws
    {
        let folder = try TestFolder()
        self.folder = folder
        contexts = try [NSSQLiteStoreType, NSXMLStoreType].map { type in
            let description = NSPersistentStoreDescription(url: folder.file(type))
            description.type = type
            let context = try Library.container(model, description).viewContext
            try fill(context)
            try context.save()
            context.reset()
            return (type, context)
        }
    }

    /// Checks what a predicate finds in each store, saved and with a change that is not saved, and by evaluation.
    func check(
        _ entity: String, _ format: String, _ arguments: [Any?] = [], finds expected: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let predicate = try NSPredicate(parsing: format, arguments: arguments)
        for (type, context) in contexts {
            let names = { (objects: [NSManagedObject]) in objects.compactMap { $0.string("name") }.sorted() }
            let found = names(try context.all(entity, predicate))
            #expect(found == expected, "\(type): \(format)", sourceLocation: sourceLocation)
            let all = try context.all(entity)
            let evaluated = names(all.filter { predicate.evaluate(with: $0) })
            #expect(evaluated == expected, "evaluated: \(format)", sourceLocation: sourceLocation)
            for object in all { object.setValue("changed", forKey: "note") }
            let pending = names(try context.all(entity, predicate))
            #expect(pending == expected, "\(type), changed: \(format)", sourceLocation: sourceLocation)
            context.reset()
        }
    }

    /// The error of a fetch in a SQLite store.
    func error(_ entity: String, _ format: String, _ arguments: [Any?] = []) throws -> String {
        let error = #expect(throws: (any Error).self) {
            try contexts[0].context.all(entity, NSPredicate(parsing: format, arguments: arguments))
        }
        return try #require(error).localizedDescription
    }

    /// Shops with authors with books, some of a publisher with awards, and boxes of two kinds.
    nonisolated static var model: NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [(String, NSAttributeType)] = []) -> NSEntityDescription {
            let all = [("name", .stringAttributeType), ("note", .stringAttributeType)] + attributes
            return Library.entity(name, all.map { Library.attribute($0.0, $0.1) })
        }
        let book = entity(
            "Book",
            [
                ("nick", .stringAttributeType), ("age", .integer64AttributeType), ("score", .doubleAttributeType),
                ("price", .decimalAttributeType), ("born", .dateAttributeType), ("token", .UUIDAttributeType),
            ])
        let (author, shop, publisher) = (entity("Author"), entity("Shop"), entity("Publisher"))
        let award = entity("Award")
        let box = entity("Box")
        func kind(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
            Library.entity(name, attributes.map { Library.attribute($0.0, $0.1) })
        }
        let apples = kind(
            "Apples",
            [("code", .stringAttributeType), ("cost", .decimalAttributeType), ("weight", .integer64AttributeType)])
        let pears = kind(
            "Pears",
            [("code", .stringAttributeType), ("cost", .decimalAttributeType), ("weight", .stringAttributeType)])
        box.subentities = [apples, pears]
        Library.connect(author, "books", toMany: true, book, "author")
        Library.connect(publisher, "books", toMany: true, book, "publisher")
        Library.connect(publisher, "awards", toMany: true, award, "publisher")
        Library.connect(shop, "authors", toMany: true, author, "shop")
        Library.connect(shop, "boxes", toMany: true, box, "shop")
        Library.connect(apples, "maker", toMany: false, author, "apples", inverseToMany: true)
        Library.connect(pears, "maker", toMany: false, author, "pears", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [book, author, shop, publisher, award, box, apples, pears]
        return model
    }

    nonisolated static func fill(_ context: NSManagedObjectContext) throws {
        let first = context.make("Shop", ["name": "s1"])
        let second = context.make("Shop", ["name": "s2"])
        let ada = context.make("Author", ["name": "ada", "shop": first])
        let bob = context.make("Author", ["name": "bob", "shop": first])
        let cid = context.make("Author", ["name": "cid", "shop": second])
        let publisher = context.make("Publisher", ["name": "p1"])
        context.make("Award", ["name": "w1", "publisher": publisher])
        context.make(
            "Book",
            [
                "name": "b1", "nick": "5", "age": 15, "score": 2.5, "price": NSDecimalNumber(string: "19.99"),
                "born": Date(timeIntervalSinceReferenceDate: 5000.25), "author": ada, "publisher": publisher,
                "token": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
            ])
        context.make(
            "Book",
            [
                "name": "b2", "age": 9_007_199_254_740_993, "score": 19.99, "price": NSDecimalNumber(string: "0.2"),
                "author": ada,
            ])
        context.make(
            "Book",
            [
                "name": "b3", "age": 9_007_199_254_740_992, "price": NSDecimalNumber(string: "9007199254740993"),
                "author": bob, "publisher": publisher, "nick": "b3",
            ])
        context.make("Book", ["name": "b4", "author": cid])
        context.make("Book", ["name": "b5"])
        context.make(
            "Apples",
            [
                "name": "a", "code": "x", "cost": NSDecimalNumber(string: "19.99"), "weight": 7, "shop": first,
                "maker": ada,
            ])
        context.make(
            "Pears",
            [
                "name": "p", "code": "x", "cost": NSDecimalNumber(string: "0.07"), "weight": "7", "shop": second,
                "maker": bob,
            ])
        context.make("Box", ["name": "q"])
    }
}
