import CoreData
import TestSupport
import Testing

/// Counts its books before each save, and may refuse to have too many.
final class CountingLibrarian: NSManagedObject {
    override func willSave() {
        super.willSave()
        let count = Int16(objects("books").count)
        if value(forKey: "age") as? Int16 != count { setValue(count, forKey: "age") }
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if string("name") == "Strict" { throw Refusal.tooMany(objects("books").count) }
    }

    enum Refusal: Error, Equatable { case tooMany(Int) }
}

// As in LibraryRulesTests: what the test suites of apps, which pass on Apple's framework, say.
@Suite("Conflicts, as apps and their test suites settle them")
struct AppConflictRulesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A store of authors whose names are unique.
    private func container() throws -> NSPersistentContainer {
        let model = Library.model()
        let author = try #require(model.entitiesByName["Author"])
        author.managedObjectClassName = NSStringFromClass(CountingLibrarian.self)
        author.uniquenessConstraints = [["name"]]
        return try Library.stored(at: folder.store, model)
    }

    @discardableResult
    private func insert(_ name: String, book title: String, in context: NSManagedObjectContext) -> NSManagedObject {
        let author = context.make("Author", ["name": name])
        return context.make("Book", ["title": title, "author": author])
    }

    @Test(
        "The object that has a unique value already prepares for the save that gives it more objects (objc.io’s Moody)",
        arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
    func survivorPrepares(policy: NSMergePolicy) throws {
        let container = try container()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = policy
        context.performAndWait { _ = insert("Emma", book: "A", in: context) }
        try other.performAndWait {
            insert("Emma", book: "B", in: other)
            try other.save()
        }
        try context.performAndWait {
            try context.save()
            let authors = try context.all("Author")
            #expect(authors.count == 1)
            #expect(authors.first?.objects("books").count == 2)
            #expect(authors.first?.value(forKey: "age") as? Int16 == 2)
        }
    }

    @Test("It is validated, too")
    func survivorIsValidated() throws {
        let container = try container()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        context.performAndWait { _ = insert("Strict", book: "A", in: context) }
        try other.performAndWait {
            insert("Strict", book: "B", in: other)
            try other.save()
        }
        context.performAndWait {
            _ = #expect(throws: CountingLibrarian.Refusal.tooMany(2)) { try context.save() }
        }
    }
}
