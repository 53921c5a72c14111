import CoreData
import Testing

/// The objects that SQL finds are those for which the predicate is true in memory, for predicates made at random.
@MainActor @Suite("SQL and memory")
struct RandomAgreementTests {
    @Test("find the same objects", arguments: 0..<16)
    func agree(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let container = try Library.stored(at: folder.file("library.sqlite"))
        let context = container.viewContext
        var random = RandomLibrary(seed: seed)
        random.fill(context)
        try context.save()
        for _ in 0..<60 {
            try compare(random.predicate(depth: 3), "Book", context)
            try compare(random.authorPredicate(depth: 2), "Author", context)
        }
    }

    private func compare(_ tree: PredicateTree, _ entity: String, _ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        let all = try context.fetch(request)
        let predicate = try NSPredicate(parsing: tree.format)
        request.predicate = predicate
        let found: Set<NSManagedObject>
        do {
            found = Set(try context.fetch(request))
        } catch {
            // What the store cannot run it must refuse, and say so.
            #expect(!error.localizedDescription.isEmpty, "\(tree.format)")
            return
        }
        let expected = Set(all.filter { predicate.evaluate(with: $0) })
        let differing = found.symmetricDifference(expected).prefix(3).map { object in
            (found.contains(object) ? "only in SQL: " : "only in memory: ")
                + "\(object.entity.attributesByName.keys.sorted().filter { object.value(forKey: $0) != nil }.map { "\($0)=\(object.value(forKey: $0) ?? "nil")" })"
        }
        let report = differing.isEmpty ? "" : "\(tree.format): \(differing.joined(separator: "; "))"
        #expect(report.isEmpty)
    }
}
