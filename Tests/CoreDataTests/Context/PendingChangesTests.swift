@testable import CoreData
import Foundation
import TestSupport
import Testing

@MainActor @Suite("Fetching with many unsaved changes")
struct PendingChangesTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        for number in 0..<50 {
            context.make("Author", ["name": "stored \(number)", "age": number])
        }
        try context.save()
        context.reset()
    }

    private func authors(_ format: String, _ arguments: Any...) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return request
    }

    /// Makes many authors, each of whom is looked for first.
    private func makeMany() throws {
        for number in 0..<200 {
            #expect(try context.count(for: authors("name == %@", "new \(number)")) == 0)
            context.make("Author", ["name": "new \(number)", "age": number % 50])
        }
    }

    private func pending(_ format: String, _ arguments: Any...) throws -> [String?] {
        let request = authors(format, arguments)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try context.pendingChanges(for: context.plan(for: request, context.entity(of: request)), in: nil)
            .objects.map { $0.string("name") }
    }

    @Test("Only those that may match are looked at, where an attribute is to have one of some values")
    func candidates() throws {
        try makeMany()
        #expect(try pending("name == %@", "new 7") == ["new 7"])
        #expect(try pending("%@ == name", "new 7") == ["new 7"])
        #expect(try pending("name IN %@", ["new 9", "new 7", "nobody"]) == ["new 7", "new 9"])
        #expect(try pending("rating > 1 AND age == 3") == ["new 3", "new 53", "new 103", "new 153"])
        #expect(try pending("name == nil") == [])
    }

    @Test("All of them are looked at, where values are compared otherwise")
    func others() throws {
        try makeMany()
        #expect(try pending("name ==[c] %@", "NEW 7").count == 200)
        #expect(try pending("name == %@ OR age == 3", "new 7").count == 200)
        #expect(try pending("NOT name == %@", "new 7").count == 200)
        #expect(try pending("ANY books.title == %@", "new 7").count == 200)
        #expect(try pending("age == %@", 2.5).count == 200)
    }

    @Test("Those that were changed in what the fetch does not look at are not looked at")
    func changedOtherwise() throws {
        for number in 0..<50 { context.make("Author", ["name": "later \(number)", "age": number]) }
        try context.save()
        for author in try context.all("Author") { author.setValue(4.5, forKey: "rating") }
        try #require(try context.all("Author").first { $0.value(forKey: "age") as? Int == 7 })
            .setValue(8, forKey: "age")
        #expect(try pending("age > 3 AND NOT name BEGINSWITH 'a'").count == 1)
        #expect(try pending("rating > 3").count == 100)
        #expect(try pending("ANY books.title == 'Emma'").count == 100)
        #expect(try context.count(for: authors("age == 8")) == 3)
    }

    @Test("An object is found by its new value, and no more by its old one")
    func changedValue() throws {
        try makeMany()
        let author = try #require(try context.fetch(authors("name == %@", "new 7")).first)
        author.setValue("other", forKey: "name")
        #expect(try context.fetch(authors("name == %@", "new 7")).isEmpty)
        #expect(try context.fetch(authors("name == %@", "other")) == [author])
        author.setValue("new 7", forKey: "name")
        #expect(try context.fetch(authors("name == %@", "new 7")) == [author])
        #expect(try context.fetch(authors("name == %@", "other")).isEmpty)
    }

    @Test("A primitive value counts as soon as it is set")
    func primitiveValue() throws {
        try makeMany()
        let author = try #require(try context.fetch(authors("name == %@", "new 7")).first)
        author.setPrimitiveValue("primitive", forKey: "name")
        #expect(try context.fetch(authors("name == %@", "primitive")) == [author])
    }

    @Test("What the store finds comes with its unsaved value or not at all")
    func storedObject() throws {
        try makeMany()
        let author = try #require(try context.fetch(authors("name == %@", "stored 7")).first)
        author.setValue("other", forKey: "name")
        #expect(try context.fetch(authors("name == %@", "stored 7")).isEmpty)
        #expect(try context.fetch(authors("name == %@", "other")) == [author])
        context.delete(author)
        #expect(try context.fetch(authors("name == %@", "other")).isEmpty)
        #expect(try context.count(for: authors("TRUEPREDICATE")) == 249)
    }

    @Test("Counting makes no objects")
    func countMakesNone() throws {
        context.make("Author", ["name": "new", "age": 3])
        #expect(try context.count(for: authors("age == 3")) == 2)
        #expect(context.registeredObjects.count == 1)
        let author = try #require(try context.fetch(authors("name == %@", "stored 3")).first)
        author.setValue(4, forKey: "age")
        #expect(try context.count(for: authors("age == 3")) == 1)
        #expect(try context.count(for: authors("age == 4")) == 2)
        #expect(context.registeredObjects.count == 2)
    }

    @Test("A limit is passed on to the store, too")
    func limitedFetch() throws {
        context.retainsRegisteredObjects = true
        context.make("Author", ["name": "stored 000", "age": 3])
        let request = authors("TRUEPREDICATE")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = 2
        let found = try context.fetch(request)
        #expect(found.map { $0.string("name") } == ["stored 0", "stored 000"])
        #expect(context.registeredObjects.count == 3)
    }

    @Test("An object that was taken back, and that another context has now, is found there alone")
    func takenByAnother() throws {
        try makeMany()
        let author = context.make("Author", ["name": "moving", "age": 1])
        #expect(try context.count(for: authors("name == %@", "moving")) == 1)
        context.delete(author)
        context.processPendingChanges()
        let other = NSManagedObjectContext(.mainQueue)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        other.insert(author)
        #expect(other.insertedObjects == [author])
        #expect(try other.fetch(authors("name == %@", "moving")) == [author])
        #expect(try context.fetch(authors("name == %@", "moving")).isEmpty)
        #expect(context.insertedObjects.count == 200)
    }

    @Test("Saving and rolling back begin anew")
    func newBeginning() throws {
        try makeMany()
        context.rollback()
        #expect(try context.count(for: authors("name == %@", "new 7")) == 0)
        try makeMany()
        try context.save()
        #expect(context.changed.isEmpty)
        #expect(try context.fetch(authors("name == %@", "new 7")).count == 1)
    }

    @Test(
        "Whatever happens to objects, a fetch finds what evaluating its predicate with each of them does",
        arguments: 0..<12)
    func random(_ seed: Int) throws {
        var generator = SplitMix(state: UInt64(seed))
        context.undoManager = seed % 2 == 0 ? UndoManager() : nil
        for number in 0..<100 { context.make("Author", ["name": "\(number % 9)", "age": number % 7]) }
        if seed >= 4 {
            // Many that the store has, changed in what nobody asks for.
            try context.save()
            for author in try context.all("Author") { author.setValue(Double(seed), forKey: "rating") }
        }
        for step in 0..<400 {
            try change(&generator)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            let predicate = predicate(&generator)
            let all = try context.fetch(request)
            let wanted = all.filter { predicate.evaluate(with: $0) }
            request.predicate = predicate
            let comment: Comment = "step \(step): \(predicate)"
            #expect(Set(try context.fetch(request)) == Set(wanted), comment)
            #expect(try context.count(for: request) == wanted.count, comment)
            request.sortDescriptors = ["age", "name", "token"].map { NSSortDescriptor(key: $0, ascending: true) }
            request.fetchLimit = 5
            request.fetchOffset = 2
            let page = (wanted as NSArray).sortedArray(using: request.sortDescriptors ?? [])
                .compactMap { $0 as? NSManagedObject }.dropFirst(2).prefix(5)
            #expect(try context.fetch(request).map(values) == page.map(values), comment)
            #expect(try context.count(for: request) == page.count, comment)
        }
    }

    private func values(_ author: NSManagedObject) -> String {
        "\(author.value(forKey: "age") ?? "-") \(author.value(forKey: "name") ?? "-") \(author.value(forKey: "token") ?? "-")"
    }

    private func change(_ generator: inout SplitMix) throws {
        let isNil = Int.random(in: 0..<9, using: &generator) == 0
        let name = isNil ? nil : "\(Int.random(in: 0..<9, using: &generator))"
        let age = Int.random(in: 0..<7, using: &generator)
        let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
            .sorted { $0.objectID.uriRepresentation().absoluteString < $1.objectID.uriRepresentation().absoluteString }
        guard let author = all.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<14, using: &generator) {
        case 0...2: context.make("Author", ["name": name ?? "none", "age": age])
        case 3...5: author.setValue(name, forKey: "name")
        case 6: author.setValue(age, forKey: "age")
        case 7:
            // Of an object that has not changed, primitive values are nobody's business.
            if author.hasChanges { author.setPrimitiveValue(name, forKey: "name") }
        case 8: context.delete(author)
        case 9: context.refresh(author, mergeChanges: true)
        case 10: author.setValue(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5\(age)"), forKey: "token")
        case 11: context.undoManager.map { if $0.canUndo { $0.undo() } }
        case 12:
            if !author.objectID.isTemporaryID { context.refresh(author, mergeChanges: false) }
        default:
            // A child changes what its parent has yet to save.
            let child = NSManagedObjectContext(.mainQueue)
            child.parent = context
            let copy = child.object(with: author.objectID)
            copy.setValue(name ?? "child", forKey: "name")
            try child.save()
        }
    }

    private func predicate(_ generator: inout SplitMix) -> NSPredicate {
        let name = "\(Int.random(in: 0..<9, using: &generator))"
        let age = Int.random(in: 0..<7, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return NSPredicate(format: "name == %@", name)
        case 1: return NSPredicate(format: "name == nil")
        case 2: return NSPredicate(format: "age == %d AND name != %@", age, name)
        case 3: return NSPredicate(format: "name IN %@", [name, "none", "child"])
        case 4: return NSPredicate(format: "age == %d OR name == %@", age, name)
        case 5:
            return NSPredicate(
                format: "token == %@",
                (UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5\(age)") ?? UUID()) as CVarArg)
        case 6: return NSPredicate(format: "name == %@ AND age IN %@", name, [age, 3])
        default: return NSPredicate(format: "age > %d", age)
        }
    }

    @Test("The largest limit and any offset are no obstacle", arguments: [0, 1, -1, Int.max])
    func largestLimit(offset: Int) throws {
        try #require(try context.fetch(authors("age == 7")).first).setValue("changed", forKey: "name")
        let request = authors("age < 10")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        request.fetchLimit = .max
        request.fetchOffset = offset
        let left = max(0, 10 - max(0, min(offset, 10)))
        #expect(try context.fetch(request).count == left)
        #expect(try context.count(for: request) == left)
    }
}
