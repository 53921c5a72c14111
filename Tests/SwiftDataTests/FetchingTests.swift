import Foundation
import SwiftData
import Testing

@Suite("A fetch")
struct FetchingTests {
    private func library(_ titles: [String]) throws -> Library {
        let library = try Library()
        for (index, title) in titles.enumerated() { library.context.insert(Book(isbn: "\(index)", title: title)) }
        try library.context.save()
        return library
    }

    @Test("sorts texts as a file browser does, unless the descriptor says otherwise")
    func texts() throws {
        let library = try library(["b10", "B9", "a", "É", "e", "Z"])
        func titles(_ order: SortDescriptor<Book>) throws -> [String] {
            try library.context.fetch(FetchDescriptor(sortBy: [order])).map(\.title)
        }
        let localized = ["a", "B9", "b10", "e", "É", "Z"]
        #expect(try titles(SortDescriptor(\.title)) == localized)
        #expect(try titles(SortDescriptor(\.title, comparator: .localizedStandard)) == localized)
        #expect(try titles(SortDescriptor(\.title, order: .reverse)) == localized.reversed())
        #expect(try titles(SortDescriptor(\.title, comparator: .lexical)) == ["B9", "Z", "a", "b10", "e", "É"])
    }

    @Test("sorts by several properties, and by those of related models")
    func related() throws {
        let library = try library(["a", "b", "c"])
        let books = try library.context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
        let second = Author(name: "second")
        books[0].author = second
        books[1].author = Author(name: "first")
        books[2].author = second
        try library.context.save()
        let order = [SortDescriptor(\Book.author?.name), SortDescriptor(\Book.title, order: .reverse)]
        #expect(try library.context.fetch(FetchDescriptor(sortBy: order)).map(\.title) == ["b", "c", "a"])
    }

    @Test("sorts by the identifier, as a last resort among equal models, saved or not")
    func byIdentifier() throws {
        let library = try Library()
        for _ in 0..<5 { library.context.insert(Item(timestamp: Date(timeIntervalSinceReferenceDate: 1))) }
        try library.context.save()
        func sorted(_ order: SortOrder) throws -> [PersistentIdentifier] {
            let descriptor = FetchDescriptor<Item>(
                sortBy: [SortDescriptor(\.timestamp), SortDescriptor(\.persistentModelID, order: order)])
            return try library.context.fetch(descriptor).map(\.persistentModelID)
        }
        let saved = try sorted(.forward)
        #expect(saved == saved.sorted())
        #expect(try sorted(.reverse) == saved.reversed())
        library.context.insert(Item(timestamp: Date(timeIntervalSinceReferenceDate: 1)))
        let all = try sorted(.forward)
        #expect(all.count == 6)
        #expect(all.filter(Set(saved).contains) == saved)
        #expect(try Set(sorted(.reverse)) == Set(all))
        library.context.insert(Book(isbn: "1", title: "a", author: Author(name: "x")))
        let books = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.author?.persistentModelID)])
        #expect(try library.context.fetch(books).count == 1)
    }

    @Test("refuses an order by a computed property")
    func unsupportedOrder() throws {
        let library = try library([])
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try library.context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.shout)]))
        }
    }

    @Test("has a limit and an offset")
    func limit() throws {
        let library = try library(["a", "b", "c", "d"])
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 1
        #expect(try library.context.fetch(descriptor).map(\.title) == ["b", "c"])
    }

    @Test("reads the models of relationships to prefetch, and only the properties that are asked for")
    func prefetching() throws {
        let library = try library(["a"])
        var descriptor = FetchDescriptor<Book>()
        descriptor.relationshipKeyPathsForPrefetching = [\.author, \.reviews]
        descriptor.propertiesToFetch = [\.title]
        let found = try ModelContext(library.container).fetch(descriptor)
        #expect(found.map(\.title) == ["a"])
        #expect(found.map(\.isbn) == ["0"])
    }

    @Test("gives identifiers, by which another context finds the models")
    func identifiers() throws {
        let library = try library(["a", "b"])
        let identifiers = try library.context.fetchIdentifiers(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
        let other = ModelContext(library.container)
        #expect(identifiers.compactMap { (other.model(for: $0) as? Book)?.title } == ["a", "b"])
        #expect(other.registeredModel(for: identifiers[0]) as Book? == nil)
    }

    @Test("gives no sorted identifiers while there are unsaved changes")
    func sortedIdentifiers() throws {
        let library = try library(["a"])
        library.context.insert(Book(isbn: "9", title: "z"))
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])
        #expect(throws: SwiftDataError.sortingPendingChangesWithIdentifiers) {
            try library.context.fetchIdentifiers(descriptor)
        }
        descriptor.includePendingChanges = false
        #expect(try library.context.fetchIdentifiers(descriptor).count == 1)
    }

    @Test("reads some models at a time in batches, which take no unsaved changes")
    func batches() throws {
        let library = try library((0..<25).map { "\($0)" })
        let descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])
        let found = try library.context.fetch(descriptor, batchSize: 10)
        #expect(found.count == 25)
        #expect(found.map(\.title) == (0..<25).map { "\($0)" })
        #expect(found[24].title == "24")
        library.context.insert(Book(isbn: "99", title: "z"))
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try library.context.fetch(descriptor, batchSize: 10)
        }
    }

    @Test("is enumerated in its order, in batches")
    func enumeration() throws {
        let library = try library((0..<25).map { "\($0)" })
        var titles: [String] = []
        try library.context.enumerate(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]), batchSize: 4) {
            titles.append($0.title)
        }
        #expect(titles == (0..<25).map { "\($0)" })
    }
}
