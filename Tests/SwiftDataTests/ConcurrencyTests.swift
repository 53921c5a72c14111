import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

@ModelActor
private actor Worker {
    /// Inserts books in saves of a hundred.
    func insert(_ numbers: Range<Int>) throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100) {
            for number in start..<min(start + 100, numbers.upperBound) {
                modelContext.insert(Book(isbn: "\(number)", title: "Book \(number)"))
            }
            try modelContext.save()
        }
    }

    /// Deletes books in one save, and changes one in another.
    func delete(_ numbers: Range<Int>) throws {
        for number in numbers {
            let isbn = "\(number)"
            let found = try modelContext.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.isbn == isbn }))
            for book in found { modelContext.delete(book) }
        }
        try modelContext.save()
    }

    func rename(_ identifier: PersistentIdentifier) throws {
        self[identifier, as: Book.self]?.title = "renamed"
        try modelContext.save()
    }
}

/// `PIPPIN_INSERTIONS=10000 swift test --filter ConcurrentModelTests`: without it, a tenth.
@Suite("Two model actors and the main context")
struct ConcurrentModelTests {
    private static let insertions =
        ProcessInfo.processInfo.environment["PIPPIN_INSERTIONS"].flatMap { Int($0) } ?? 1_000

    @Test("work on one store: all changes are there and in the history, and an observed one is heard once")
    @MainActor
    func together() async throws {
        let library = try Library()
        let context = library.container.mainContext
        let watched = Book(isbn: "watched", title: "first")
        context.insert(watched)
        try context.save()
        let heard = Mutex(0)
        withObservationTracking {
            _ = watched.title
        } onChange: {
            heard.withLock { $0 += 1 }
        }
        let (half, deletions) = (Self.insertions / 2, Self.insertions / 10)
        let (first, second) = (
            Worker(modelContainer: library.container), Worker(modelContainer: library.container)
        )
        async let inserting: Void = first.insert(0..<half)
        async let others: Void = second.insert(half..<Self.insertions)
        _ = try await (inserting, others)
        try await second.delete(0..<deletions)
        try await first.rename(watched.persistentModelID)
        for _ in 0..<500 where watched.title == "first" { try await Task.sleep(for: .milliseconds(10)) }
        #expect(watched.title == "renamed")
        #expect(heard.withLock { $0 } == 1)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == Self.insertions - deletions + 1)
        let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
        func count(_ isKind: (HistoryChange) -> Bool) -> Int { changes.count(where: isKind) }
        #expect(count { if case .insert = $0 { true } else { false } } == Self.insertions + 1)
        #expect(count { if case .delete = $0 { true } else { false } } == deletions)
        #expect(count { if case .update = $0 { true } else { false } } == 1)
    }
}
