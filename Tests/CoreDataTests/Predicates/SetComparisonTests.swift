import CoreData
import Foundation
import Testing

@MainActor @Suite("Objects of a relationship")
struct SetComparisonTests {
    @Test("equal a set of the same objects, in whatever order they are read")
    func sets() throws {
        let context = try Library.inMemory().viewContext
        let author = context.make("Author", ["name": "a"])
        let books = (0..<40).map { context.make("Book", ["title": "\($0)", "author": author]) }
        try context.save()
        #expect(NSPredicate(format: "books == %@", NSSet(array: books.reversed())).evaluate(with: author))
        #expect(NSPredicate(format: "books == %@", books).evaluate(with: author))
        #expect(!NSPredicate(format: "books != %@", Set(books)).evaluate(with: author))
        #expect(!NSPredicate(format: "books == %@", Set(books.dropLast())).evaluate(with: author))
        let other = context.make("Book", ["title": "x"])
        #expect(!NSPredicate(format: "books == %@", books.dropLast() + [other]).evaluate(with: author))
        #expect(!NSPredicate(format: "books == %@", books.dropLast() + [books[0]]).evaluate(with: author))
    }

    @Test("have an order, which an unsaved change does not change")
    func order() throws {
        let stores = try ComparedStores()
        for (type, context) in stores.contexts {
            for key in ["author", "self", "objectID"] {
                let saved = try context.all("Book", by: key).map(\.objectID)
                let book = try #require(context.all("Book", NSPredicate(format: "name == 'b3'")).first)
                book.setValue("changed", forKey: "note")
                let pending = try context.all("Book", by: key)
                #expect(pending.map(\.objectID) == saved, "\(type): \(key)")
                context.reset()
            }
        }
    }
}
