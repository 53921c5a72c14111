import Foundation
import Observation
import SwiftData
import Synchronization
import TestSupport
import Testing

@Suite("A live list")
struct ResultsObserverTests {
    @Test("shows the changes of its context and what other contexts have saved")
    func results() throws {
        let library = try Library()
        let list = try ResultsObserver<Book, Never>(
            filterBy: #Predicate { $0.year > 1810 }, sortBy: [SortDescriptor(\.title)], modelContext: library.context,
            isolation: nil)
        #expect(list.results.isEmpty)
        #expect(list.sections == nil)
        let emma = Book(isbn: "1", title: "Emma")
        library.context.insert(emma)
        #expect(list.results.isEmpty)
        emma.year = 1815
        #expect(list.results.map(\.title) == ["Emma"])
        try library.context.save()
        let other = ModelContext(library.container)
        let poems = Book(isbn: "2", title: "Poems")
        poems.year = 1820
        other.insert(poems)
        try other.save()
        #expect(list.results.map(\.title) == ["Emma", "Poems"])
        library.context.delete(emma)
        #expect(list.results.map(\.title) == ["Poems"])
        list.filterBy = nil
        list.sortBy = [SortDescriptor(\.isbn, order: .reverse)]
        library.context.insert(Book(isbn: "3", title: "Old"))
        #expect(list.results.map(\.title) == ["Old", "Poems"])
    }

    @Test("has sections by a title, which come first in its order")
    func sections() throws {
        let library = try Library()
        for (isbn, title) in [("1", "b"), ("2", "a"), ("3", "b")] {
            library.context.insert(Book(isbn: isbn, title: title))
        }
        let list = try ResultsObserver(
            sortBy: [SortDescriptor(\Book.isbn, order: .reverse)], sectionBy: \Book.title,
            modelContext: library.context, isolation: nil)
        let sections = try #require(list.sections)
        #expect(sections.map(\.title) == ["a", "b"])
        #expect(sections.map { $0.map(\.isbn) } == [["2"], ["3", "1"]])
        #expect(sections[sectionTitle: "b"]?.id == "b")
        #expect(sections[sectionTitle: "c"] == nil)
        #expect(list.fetchDescriptor.sortBy.count == 2)
    }

    @Test("tells observers once of the changes of a turn of its actor")
    @MainActor
    func observed() async throws {
        let library = try Library()
        let context = library.container.mainContext
        context.autosaveEnabled = false
        let list = try ResultsObserver<Book, Never>(modelContext: context)
        let heard = Mutex(0)
        func follow() {
            withObservationTracking {
                _ = list.results
            } onChange: {
                heard.withLock { $0 += 1 }
            }
        }
        follow()
        context.insert(Book(isbn: "1", title: "Emma"))
        context.insert(Book(isbn: "2", title: "Poems"))
        #expect(await eventually { heard.withLock { $0 } == 1 })
        #expect(list.results.count == 2)
        try context.save()
        follow()
        let importer = Importer(modelContainer: library.container)
        _ = try await importer.add(["3"])
        #expect(await eventually { heard.withLock { $0 } == 2 })
        #expect(list.results.count == 3)
    }

    /// Whether a condition becomes true while the main actor is free.
    @MainActor
    private func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<500 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return condition()
    }
}

@Suite("An observer of the history")
struct HistoryObserverTests {
    @Test("counts the saves that change the models and come from the authors that it follows")
    func counted() throws {
        let library = try Library()
        library.context.insert(Item(timestamp: .now))
        try library.context.save()
        let observer = try HistoryObserver(
            observedModels: [Book.self], authors: ["me"], modelContainer: library.container, isolation: nil)
        #expect(observer.eventCounter == 0)
        library.context.insert(Book(isbn: "1", title: "Emma"))
        try library.context.save()
        #expect(observer.eventCounter == 0)
        library.context.author = "me"
        library.context.insert(Item(timestamp: .now))
        try library.context.save()
        #expect(observer.eventCounter == 0)
        library.context.insert(Book(isbn: "2", title: "Poems"))
        try library.context.save()
        #expect(observer.eventCounter == 1)
        #expect(observer.historyTokens.count == 1)
    }

    @Test("begins after the tokens that it is given")
    func tokens() throws {
        let library = try Library()
        let first = try HistoryObserver(modelContainer: library.container, isolation: nil)
        let start = first.historyTokens
        library.context.insert(Book(isbn: "1", title: "Emma"))
        try library.context.save()
        #expect(first.eventCounter == 1)
        let later = try HistoryObserver(historyTokens: start, modelContainer: library.container, isolation: nil)
        #expect(later.eventCounter == 1)
    }
}
