@_spi(GeneratedCode) import CoreData
import SQLiteEngine
import Testing

private final class NamedBook: NSManagedObject {
    private static let titleKey = ManagedPropertyKey("title")
    private static let priceKey = ManagedPropertyKey("price")
    private static let authorKey = ManagedPropertyKey("author")

    var title: String? { managedValue(NamedBook.titleKey) }
    var price: Double { managedValue(NamedBook.priceKey) }
    var author: NamedAuthor? { managedValue(NamedBook.authorKey) }
}

private final class NamedAuthor: NSManagedObject {
    private static let nameKey = ManagedPropertyKey("name")

    var name: String { managedValue(NamedAuthor.nameKey) }
}

@Suite("Key paths of managed objects")
struct KeyPathNamingTests {
    @Test("give sort descriptors their keys")
    func sortDescriptors() throws {
        let terms = try sortTerms(of: [NSSortDescriptor(keyPath: \NamedBook.price, ascending: false)])
        #expect(terms == [SortTerm(keyPath: ["price"], ascending: false)])
    }

    @Test("give #Predicate its keys")
    func predicate() throws {
        let tree = try predicateTree(
            of: #Predicate<NamedBook> { $0.price > 3.5 && $0.author?.name == "Banks" && $0.title != nil })
        #expect(tree.format == #"price > 3.5 AND author.name == "Banks" AND title != nil"#)
    }

    // Source: QueryKit, and every helper that asks key paths for their Objective-C names.
    @Test("are SELF if they read the object itself (RHBCoreData)")
    func identity() throws {
        #expect(NSExpression(forKeyPath: \NamedBook.self) == .expressionForEvaluatedObject())
        #expect(NSExpression(forKeyPath: \Double.self) == .expressionForEvaluatedObject())
    }

    @Test("have the names that code asks for by _kvcKeyPathString")
    func objectiveCName() {
        #expect((\NamedBook.price)._kvcKeyPathString == "price")
        #expect((\NamedBook.author?.name as AnyKeyPath)._kvcKeyPathString == "author.name")
        #expect((\NamedBook.hash)._kvcKeyPathString == nil)
        #expect((\NamedBook.self)._kvcKeyPathString == "self")
        #expect((\Double.self)._kvcKeyPathString == "self")
    }
}
