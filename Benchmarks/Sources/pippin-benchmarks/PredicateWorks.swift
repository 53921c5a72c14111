import CoreData
import Foundation
import Synchronization

/// Numbers for formats that nobody has parsed before.
private let fresh = Atomic<Int>(0)

private func freshNumber() -> Int { fresh.add(1, ordering: .relaxed).newValue }

private let repetitions = 20_000

/// Evaluates a predicate with every object.
private func evaluation(_ title: String, budget: Double? = 150, _ format: String, _ arguments: Any...) -> PredicateWork
{
    let arguments = Handed(arguments)
    return PredicateWork(title: title, budget: budget) { items, _ in
        let predicate = NSPredicate(format: format, argumentArray: arguments.values)
        return {
            var found = 0
            for item in items where predicate.evaluate(with: item) { found += 1 }
            guard found > 0 else { throw FoundNothing(format: format) }
            return items.count
        }
    }
}

private func repeated(_ title: String, _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Void)
    -> PredicateWork
{
    PredicateWork(title: title, budget: nil) { _, context in
        return {
            for _ in 0..<repetitions { try body(context) }
            return repetitions
        }
    }
}

/// A fetch that finds nothing: what is left is making the predicate, its SQL and its statement.
private func fetchNothing(_ predicate: NSPredicate, in context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = predicate
    _ = try context.fetch(request)
}

let allPredicateWorks = [
    repeated("parse a format for the first time") { _ in
        _ = NSPredicate(
            format: "price > \(freshNumber()) AND title BEGINSWITH[cd] %@ OR ANY tags.name IN {1, 2}", "a")
    },
    repeated("parse a format again") { _ in
        _ = NSPredicate(format: "price > 5 AND title BEGINSWITH[cd] %@ OR ANY tags.name IN {1, 2}", "a")
    },
    repeated("fetch by a new predicate: parse, make SQL, prepare") { context in
        try fetchNothing(NSPredicate(format: "count == -\(freshNumber()) AND uid == %@", "none"), in: context)
    },
    repeated("fetch by a known predicate") { context in
        try fetchNothing(NSPredicate(format: "count == -1 AND uid == %@", "none"), in: context)
    },
    evaluation("evaluate price > %f", "price > %f", 1000.0),
    evaluation("evaluate count == %d", "count == %d", 77),
    evaluation("evaluate uid == %@", "uid == %@", Sample(number: 77).uid),
    evaluation("evaluate isFlagged == YES AND count < %d", "isFlagged == YES AND count < %d", 50_000),
    evaluation("evaluate createdAt >= %@", "createdAt >= %@", Sample(number: 500).createdAt),
    evaluation("evaluate title BEGINSWITH %@", "title BEGINSWITH %@", "The book"),
    evaluation("evaluate title CONTAINS[c] %@", budget: nil, "title CONTAINS[c] %@", "NUMBER 7"),
    evaluation("evaluate title LIKE %@", "title LIKE %@", "*number 1?3*"),
    evaluation("evaluate title MATCHES %@", budget: nil, "title MATCHES %@", "The .*number [0-9]+3"),
    evaluation(
        "evaluate title MATCHES %@, with a group", budget: nil, "title MATCHES %@", "The (book|page).*number [0-9]+3"),
]

struct FoundNothing: Error, CustomStringConvertible {
    let format: String
    var description: String { "“\(format)” is true of no object: it measures nothing" }
}

/// Arguments of a predicate on their way: constants, which no one changes.
private struct Handed: @unchecked Sendable {
    let values: [Any]
    init(_ values: [Any]) { self.values = values }
}
