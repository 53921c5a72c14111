import CoreData
import Foundation
import Testing

@MainActor @Suite("A constant")
struct UnfitConstantTests {
    @Test("is refused as a text beside a number unless it spells one, whatever was fetched before")
    func texts() throws {
        let stores = try ComparedStores()
        let context = stores.contexts[0].context
        #expect(try context.all("Book", NSPredicate(format: "age < %@", "50")).count == 1)
        #expect(try stores.error("Book", "age < %@", ["abc"]).contains("abc"))
        #expect(try context.all("Book", NSPredicate(format: "age IN %@", ["15"])).count == 1)
        #expect(try stores.error("Book", "age IN %@", [["abc"]]).contains("abc"))
        // Numbers in Swift, and not in a database.
        for text in ["0xF", "nan", "inf"] {
            #expect(try stores.error("Book", "score == %@", [text]).contains(text))
            #expect(try stores.error("Book", "score == '\(text)'").contains(text))
        }
    }

    @Test("is read each time if it names the type of a cast")
    func casts() throws {
        let stores = try ComparedStores()
        let context = stores.contexts[0].context
        #expect(try context.all("Book", NSPredicate(format: "CAST(born, %@) > 0", "NSNumber")).count == 1)
        #expect(try stores.error("Book", "CAST(born, %@) > 0", ["NSString"]).contains("CAST"))
    }

    @Test("is not an object among those of another entity, whatever its key is")
    func objects() throws {
        let stores = try ComparedStores()
        for (type, context) in stores.contexts {
            let shop = try #require(context.all("Shop", NSPredicate(format: "name == 's1'")).first)
            for format in ["%@ IN {author}", "books.@max.author == %@", "author.books.@max.author == %@"] {
                let entity = format.hasPrefix("books") ? "Author" : "Book"
                #expect(try context.all(entity, NSPredicate(format: format, shop)) == [], "\(type): \(format)")
            }
        }
    }
}
