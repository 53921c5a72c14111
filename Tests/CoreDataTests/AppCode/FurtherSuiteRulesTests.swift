import CoreData
import Testing

// As in LibraryRulesTests: what test suites say that pass on Apple's framework.
@Suite("Rules that further test suites rely on")
struct FurtherSuiteRulesTests {
    @Test("A nil in an Any, as generic code passes it, empties a to-one relationship (RCDataKit)")
    func nilOfGenericCode() throws {
        func set<Value>(_ value: Value, forKey key: String, of object: NSManagedObject) {
            object.setValue(value, forKey: key)
        }
        let context = try Library.inMemory().viewContext
        let author = context.make("Author", ["name": "Emma"])
        let book = context.make("Book", ["title": "A"])
        set(Optional(author), forKey: "author", of: book)
        #expect(book.value(forKey: "author") as? NSManagedObject === author)
        set(NSManagedObject?.none, forKey: "author", of: book)
        #expect(book.value(forKey: "author") == nil)
        try context.save()
    }
}
