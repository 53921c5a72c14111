import CoreData
import TestSupport
import Testing

/// Four times as much may take four times as long, with room for noise, and not sixteen times.
@MainActor @Suite("Work in proportion", .serialized)
struct ProportionTests {
    /// How much longer something takes with four times as much, at best of two.
    private func growth(from size: Int, _ work: (Int) throws -> Void) rethrows -> Double {
        func time(_ size: Int) throws -> Double {
            try (0..<2).map { _ in try processorTime { try work(size) } }.min() ?? 0
        }
        return try time(4 * size) / time(size)
    }

    @Test("Inserting and deleting in turn does not look through what else has changed")
    func insertingAndDeleting() throws {
        func steps(besides count: Int) throws -> Double {
            let context = try Library.inMemory().viewContext
            for number in 0..<count { context.make("Author", ["name": "\(number)"]) }
            context.processPendingChanges()
            return processorTime {
                for _ in 0..<500 {
                    context.delete(context.make("Author"))
                    context.processPendingChanges()
                    let author = context.make("Author")
                    context.processPendingChanges()
                    context.delete(author)
                    context.processPendingChanges()
                }
            }
        }
        _ = try steps(besides: 10)
        let (few, many) = (try steps(besides: 100), try steps(besides: 20_000))
        #expect(many < 4 * few)
    }

    @Test("Nor does it with fetches in between")
    func fetchingInBetween() throws {
        func steps(besides count: Int) throws -> Double {
            let context = try Library.inMemory().viewContext
            for number in 0..<count { context.make("Author", ["name": "\(number)"]) }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = NSPredicate(format: "name == '50'")
            for _ in 0..<10 { #expect(try context.fetch(request).count == 1) }
            return try processorTime { () throws in
                for _ in 0..<200 {
                    let author = context.make("Author")
                    #expect(try context.fetch(request).count == 1)
                    context.delete(author)
                    #expect(try context.fetch(request).count == 1)
                }
            }
        }
        _ = try steps(besides: 100)
        let (few, many) = (try steps(besides: 200), try steps(besides: 20_000))
        #expect(many < 4 * few)
    }

    @Test(
        "Different conditions side by side take a fetch their number of times as long",
        arguments: ["(name == %@ AND rating == %@)", "(name != %@ OR rating < %@)", "name == %@ AND rating > %@"])
    func conditions(format: String) throws {
        let context = try Library.inMemory().viewContext
        for number in 0..<20 { context.make("Author", ["name": "\(number)", "rating": Double(number)]) }
        try context.save()
        let isAlternative = format.contains("==")
        let growth = try growth(from: 2_000) { count in
            let parts = (0..<count).map { NSPredicate(format: format, "\($0)", Double($0)) }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate =
                isAlternative
                ? NSCompoundPredicate(orPredicateWithSubpredicates: parts)
                : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
            _ = try context.fetch(request)
        }
        #expect(growth < 10)
    }
}
