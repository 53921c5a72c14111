@testable import CoreData
import Foundation
import TestSupport
import Testing

@MainActor @Suite("A sum over unsaved changes, asked again and again")
struct ChangeSummaryTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        container = try Library.inMemory()
        for number in 0..<3 { context.make("Author", ["name": "stored \(number)", "age": 100]) }
        try context.save()
        for number in 0..<100 { context.make("Author", ["name": "new \(number)", "age": 1]) }
    }

    /// The sum of ages over 0, and how many objects were looked at for it.
    private func ask() throws -> (sum: Int, looks: Int) {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
        request.predicate = NSPredicate(format: "age > 0")
        var looks = 0
        func part(_ object: NSManagedObject) -> Int? {
            looks += 1
            return object.value(forKey: "age") as? Int
        }
        let plan = context.plan(for: request, try context.entity(of: request))
        context.processDeletions()
        if let summary = try context.summary(for: plan, ["age"], "sum", part, +) {
            return (summary.total as? Int ?? 0, looks)
        }
        // Few have changed, or this is asked for the first time.
        let matches = NSManagedObjectContext.test(plan.predicate)
        let parts = context.changedObjects(of: plan).filter { !$0.isDeleted && matches($0) }.compactMap(part)
        return (parts.reduce(0, +), looks)
    }

    private func author(_ name: String) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    @Test("looks at each change once")
    func looks() throws {
        for _ in 0..<2 { #expect(try ask() == (100, 100)) }
        #expect(try ask() == (100, 0))
        context.make("Author", ["name": "one more", "age": 7])
        let (sum, looks) = try ask()
        #expect(sum == 107)
        #expect(looks < 5)
    }

    @Test("follows values that are set")
    func values() throws {
        for _ in 0..<2 { _ = try ask() }
        let author = try author("new 5")
        author.setValue(50, forKey: "age")
        #expect(try ask().sum == 149)
        author.setPrimitiveValue(20, forKey: "age")
        #expect(try ask().sum == 119)
        author.setValue(-1, forKey: "age")
        #expect(try ask().sum == 99)
        try self.author("stored 1").setValue(30, forKey: "age")
        #expect(try ask().sum == 129)
    }

    @Test("follows a value that is set again and again while nobody asks")
    func manyValues() throws {
        for _ in 0..<2 { _ = try ask() }
        let author = try author("new 5")
        for age in 1...1000 { author.setPrimitiveValue(age, forKey: "age") }
        for _ in 0..<3 { #expect(try ask().sum == 1099) }
    }

    @Test("follows deletions and withdrawn changes")
    func withdrawn() throws {
        let stored = try author("stored 1")
        stored.setValue(30, forKey: "age")
        for _ in 0..<2 { #expect(try ask().sum == 130) }
        context.refresh(stored, mergeChanges: false)
        #expect(try ask().sum == 100)
        context.delete(try author("new 3"))
        #expect(try ask().sum == 99)
        context.rollback()
        #expect(try ask().sum == 0)
    }

    @Test("begins anew after a save")
    func saved() throws {
        for _ in 0..<2 { _ = try ask() }
        try context.save()
        #expect(try ask().sum == 0)
        for number in 0..<70 { try author("new \(number)").setValue(2, forKey: "age") }
        for _ in 0..<3 { #expect(try ask().sum == 140) }
    }

    @Test("is known to fetches and counts with the same filter")
    func fetches() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "age > 0")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        for number in 0..<5 {
            request.fetchLimit = 0
            #expect(try context.count(for: request) == 103 + number)
            request.fetchLimit = 2
            let expected: [Int?] = number == 0 ? [100, 100] : [199 + number, number == 1 ? 100 : 198 + number]
            #expect(try context.fetch(request).map { $0.value(forKey: "age") as? Int } == expected)
            context.make("Author", ["name": "older", "age": 200 + number])
        }
    }
}
