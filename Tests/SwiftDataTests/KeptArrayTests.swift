import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

/// A loop that reads the array for each element takes the time of the loop, not the square of it.
@Suite("The array of a relationship")
struct KeptArrayTests {
    /// Where the elements of an author's array are in memory: the same place for an array that was not made anew.
    private func place(_ author: Author) -> UnsafePointer<Book>? {
        author.books.withUnsafeBufferPointer { $0.baseAddress }
    }

    private func savedAuthor(_ library: Library, books: Int) throws -> Author {
        let author = Author(name: "Austen")
        author.books = (0..<books).map { Book(isbn: "\($0)", title: "Book \($0)") }
        library.context.insert(author)
        try library.context.save()
        return author
    }

    @Test("is made once while it is read, and is the same in each context")
    func once() throws {
        let library = try Library()
        let author = try savedAuthor(library, books: 100)
        let other = try #require(try library.fetched(by: SortDescriptor(\Author.name)).first)
        for author in [author, other] {
            let first = place(author)
            let places = (0..<100).map { index in
                _ = author.books[index].title
                return place(author)
            }
            #expect(places.allSatisfy { $0 == first })
        }
        #expect(author.books.map(\.isbn) == other.books.map(\.isbn))
    }

    @Test("is another one after each change of either side, a save, a rollback, and what others have saved")
    func changes() throws {
        let library = try Library()
        let author = try savedAuthor(library, books: 3)
        func isbns() -> [String] { author.books.map(\.isbn) }
        #expect(isbns() == ["0", "1", "2"])
        author.books.removeFirst()
        #expect(isbns() == ["1", "2"])
        let book = Book(isbn: "3", title: "new", author: author)
        #expect(isbns() == ["1", "2", "3"])
        try library.context.save()
        #expect(isbns() == ["1", "2", "3"])
        book.author = nil
        #expect(isbns() == ["1", "2"])
        library.context.rollback()
        #expect(isbns() == ["1", "2", "3"])
        library.context.delete(book)
        library.context.processPendingChanges()
        #expect(isbns() == ["1", "2"])
        try library.context.save()
        let other = ModelContext(library.container)
        other.insert(Book(isbn: "4", title: "other", author: try other.fetch(FetchDescriptor<Author>()).first))
        try other.save()
        try library.context.save()
        #expect(isbns() == ["1", "2", "4"])
        try library.container.erase()
        #expect(isbns() == [])
    }

    @Test("holds no model in a circle: the context goes with the last model that the program holds")
    func circle() throws {
        weak var context: ModelContext?
        do {
            let library = try Library(Cocktail.self)
            let lime = Garnish("lime")
            let cocktails = ["Daiquiri", "Gimlet"].map { name in
                let cocktail = Cocktail(name)
                cocktail.garnish = [lime]
                return cocktail
            }
            library.context.insert(lime)
            try library.context.save()
            for _ in 0..<2 {
                #expect(lime.cocktails.count == 2)
                for cocktail in cocktails { #expect(cocktail.garnish == [lime]) }
            }
            context = library.context
        }
        #expect(context == nil)
    }
}

/// How models come into the array of a relationship: from either side, and from both.
enum Appending: String, CaseIterable, CustomTestStringConvertible {
    case array, model, modelThenArray, arrayThenModel

    var testDescription: String { rawValue }

    func add(_ leaf: Leaf, to tree: Tree) {
        switch self {
        case .array: tree.leaves.append(leaf)
        case .model: leaf.tree = tree
        case .modelThenArray:
            leaf.tree = tree
            tree.leaves.append(leaf)
        case .arrayThenModel:
            tree.leaves.append(leaf)
            leaf.tree = tree
        }
    }
}

@Model
final class Tree {
    var name: String
    var leaves: [Leaf] = []
    var fallen: [Leaf]?

    init(name: String) { self.name = name }
}

/// A model written by hand, which counts how often it is looked at.
final class Leaf: PersistentModel {
    static let looks = Atomic<Int>(0)

    private var backingData: any BackingData<Leaf>
    let _$observationRegistrar = ObservationRegistrar()

    init(_ number: Int) {
        backingData = Leaf.createBackingData()
        self.number = number
    }

    init(backingData: any BackingData<Leaf>) { self.backingData = backingData }

    var persistentBackingData: any BackingData<Leaf> {
        get {
            Leaf.looks.add(1, ordering: .relaxed)
            return backingData
        }
        set { backingData = newValue }
    }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            Schema.PropertyMetadata(name: "number", keypath: \Leaf.number, defaultValue: 0),
            Schema.PropertyMetadata(
                name: "tree", keypath: \Leaf.tree, metadata: Schema.Relationship(inverse: \Tree.leaves)),
            Schema.PropertyMetadata(
                name: "formerTree", keypath: \Leaf.formerTree, metadata: Schema.Relationship(inverse: \Tree.fallen)),
        ]
    }

    var number: Int {
        get { _$getValue(forKey: \.number) }
        set { _$setValue(forKey: \.number, to: newValue) }
    }

    var tree: Tree? {
        get { _$getValue(forKey: \.tree) }
        set { _$setValue(forKey: \.tree, to: newValue) }
    }

    var formerTree: Tree? {
        get { _$getValue(forKey: \.formerTree) }
        set { _$setValue(forKey: \.formerTree, to: newValue) }
    }
}

private final class Heard: Sendable { let count = Atomic<Int>(0) }

/// A program appends to the property's own array, and what it changed is found by comparing.
@Suite("An array of models that is changed in its place", .serialized)
struct ChangedArrayTests {
    private func inserted(_ tree: Tree) throws -> ModelContext {
        let context = try Library(Tree.self).context
        context.insert(tree)
        return context
    }

    private func numbers(_ tree: Tree) -> [Int] { tree.leaves.map(\.number) }

    private func tree(_ count: Int, isInserted: Bool) throws -> (Tree, ModelContext?) {
        let tree = Tree(name: "oak")
        let context = isInserted ? try inserted(tree) : nil
        for number in 0..<count { tree.leaves.append(Leaf(number)) }
        return (tree, context)
    }

    @Test("has each model once, from whichever side it was added", arguments: Appending.allCases, [true, false])
    func once(_ way: Appending, isInserted: Bool) throws {
        let tree = Tree(name: "oak")
        let context = isInserted ? try inserted(tree) : nil
        let leaves = (0..<20).map { Leaf($0) }
        for leaf in leaves {
            way.add(leaf, to: tree)
            #expect(tree.leaves.last == leaf)
        }
        #expect(tree.leaves == leaves)
        #expect(leaves.allSatisfy { $0.tree == tree })
        try context?.save()
        #expect(numbers(tree) == Array(0..<20))
        way.add(Leaf(20), to: tree)
        #expect(numbers(tree) == Array(0...20))
        let later = try context ?? inserted(tree)
        try later.save()
        #expect(try later.fetchCount(FetchDescriptor<Leaf>()) == 21)
        #expect(numbers(tree) == Array(0...20))
    }

    @Test(
        "costs a look at the new model alone, among 100 as among 1,000", arguments: Appending.allCases, [true, false])
    func looks(_ way: Appending, isInserted: Bool) throws {
        func looks(among count: Int) throws -> Int {
            let (tree, context) = try tree(count, isInserted: isInserted)
            way.add(Leaf(count), to: tree)
            let before = Leaf.looks.load(ordering: .relaxed)
            for number in 1...100 {
                way.add(Leaf(count + number), to: tree)
                #expect(tree.leaves.count == count + number + 1)
            }
            _ = context
            return Leaf.looks.load(ordering: .relaxed) - before
        }
        #expect(try looks(among: 1_000) == looks(among: 100))
    }

    @Test("is not copied for an append", arguments: Appending.allCases, [true, false])
    func places(_ way: Appending, isInserted: Bool) throws {
        let tree = Tree(name: "oak")
        let context = isInserted ? try inserted(tree) : nil
        var places: Set<UnsafePointer<Leaf>?> = []
        for number in 0..<1_000 {
            way.add(Leaf(number), to: tree)
            places.insert(tree.leaves.withUnsafeBufferPointer { $0.baseAddress })
        }
        // It grows by doubling.
        #expect(places.count < 25)
        #expect(numbers(tree) == Array(0..<1_000))
        _ = context
    }

    @Test("can lose, change places of, and exchange its models", arguments: [true, false])
    func changes(isInserted: Bool) throws {
        let (tree, context) = try tree(12, isInserted: isInserted)
        let leaves = tree.leaves
        try context?.save()
        #expect(tree.leaves.popLast() == leaves[11])
        #expect(leaves[11].tree == nil)
        tree.leaves.remove(at: 3)
        tree.leaves.removeAll { $0.number < 2 }
        #expect(numbers(tree) == [2, 4, 5, 6, 7, 8, 9, 10])
        #expect(leaves[3].tree == nil)
        let new = Leaf(30)
        tree.leaves[0] = new
        #expect(Set(numbers(tree)) == [30, 4, 5, 6, 7, 8, 9, 10])
        #expect(leaves[2].tree == nil)
        #expect(new.tree == tree)
        tree.leaves.insert(contentsOf: [leaves[2], leaves[3]], at: 1)
        tree.leaves.swapAt(0, 5)
        tree.leaves.append(contentsOf: [leaves[4], leaves[0], leaves[0]])
        #expect(Set(numbers(tree)) == [30, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        #expect(tree.leaves.count == 11)
        #expect(leaves[0].tree == tree)
        tree.leaves += [leaves[1]]
        #expect(tree.leaves.count == 12)
        tree.leaves.removeAll()
        #expect(tree.leaves.isEmpty)
        #expect(leaves.allSatisfy { $0.tree == nil })
    }

    @Test("is what the program leaves, whatever happens to it meanwhile", arguments: [true, false])
    func reentrant(isInserted: Bool) throws {
        let (tree, context) = try tree(6, isInserted: isInserted)
        let leaves = tree.leaves
        tree.leaves.removeAll { leaf in
            #expect(tree.leaves.count >= 3)
            if leaf.number.isMultiple(of: 2) { leaf.tree = nil }
            return leaf.number.isMultiple(of: 2)
        }
        #expect(numbers(tree) == [1, 3, 5])
        #expect(leaves.filter { $0.tree == tree }.map(\.number) == [1, 3, 5])
        struct Stopped: Error {}
        #expect(throws: Stopped.self) {
            func change(_ leaves: inout [Leaf]) throws {
                leaves.removeLast()
                throw Stopped()
            }
            try change(&tree.leaves)
        }
        #expect(numbers(tree) == [1, 3])
        #expect(leaves[5].tree == nil)
        let held = tree.leaves
        tree.leaves.append(leaves[0])
        #expect(held.map(\.number) == [1, 3])
        #expect(Set(numbers(tree)) == [0, 1, 3])
        _ = context
    }

    @Test("moves its models to another one, both ways", arguments: [true, false])
    func moves(isInserted: Bool) throws {
        let (tree, context) = try tree(40, isInserted: isInserted)
        let other = Tree(name: "elm")
        context?.insert(other)
        let leaves = tree.leaves
        for leaf in leaves.prefix(20) {
            leaf.tree = other
            #expect(other.leaves.last == leaf)
        }
        #expect(numbers(tree) == Array(20..<40))
        for leaf in leaves.suffix(20) { other.leaves.append(leaf) }
        #expect(tree.leaves.isEmpty)
        #expect(numbers(other) == Array(0..<40))
        while let leaf = other.leaves.popLast() { tree.leaves.append(leaf) }
        #expect(Set(numbers(tree)) == Set(0..<40))
        #expect(leaves.allSatisfy { $0.tree == tree })
    }

    @Test("changes in its place where it is optional, too", arguments: [true, false])
    func optional(isInserted: Bool) throws {
        let (tree, context) = try tree(3, isInserted: isInserted)
        let leaves = tree.leaves
        tree.fallen?.append(leaves[0])
        #expect(tree.fallen?.count == (isInserted ? 1 : nil))
        tree.fallen = []
        tree.fallen?.append(leaves[0])
        tree.fallen?.append(leaves[1])
        #expect(tree.fallen == [leaves[0], leaves[1]])
        #expect(leaves[1].formerTree == tree)
        tree.fallen?.removeFirst()
        #expect(tree.fallen == [leaves[1]])
        tree.fallen = nil
        #expect(leaves[1].formerTree == nil)
        _ = context
    }

    @Test("tells observers once of each change, before it")
    func observed() throws {
        let (tree, context) = try tree(3, isInserted: true)
        let changes: [() -> Void] = [
            { tree.leaves.append(Leaf(3)) }, { _ = tree.leaves.popLast() }, { tree.leaves[0] = Leaf(4) },
            { tree.leaves = [] },
        ]
        for change in changes {
            let heard = Heard()
            withObservationTracking({ _ = tree.leaves }, onChange: { heard.count.add(1, ordering: .relaxed) })
            change()
            #expect(heard.count.load(ordering: .relaxed) == 1)
        }
        _ = context
    }
}
