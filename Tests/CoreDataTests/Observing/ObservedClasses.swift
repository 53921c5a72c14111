@_spi(GeneratedCode) import CoreData

private enum Keys {
    static let name = ManagedPropertyKey("name")
    static let age = ManagedPropertyKey("age")
    static let nickname = ManagedPropertyKey("nickname")
    static let books = ManagedPropertyKey("books")
    static let primitiveBooks = ManagedPropertyKey("primitiveBooks")
    static let author = ManagedPropertyKey("author")
    static let title = ManagedPropertyKey("title")
    static let chapters = ManagedPropertyKey("chapters")
}

/// An author whose accessors are as CoreDataPlugin writes them, with properties of its own.
final class ObservedAuthor: NSManagedObject {
    var name: String {
        get { managedValue(Keys.name) }
        set { setManagedValue(newValue, Keys.name) }
    }
    var age: Int16 {
        get { managedValue(Keys.age) }
        set { setManagedValue(newValue, Keys.age) }
    }
    var nickname: String? {
        get { managedValue(Keys.nickname) }
        set { setManagedValue(newValue, Keys.nickname) }
    }
    var books: Set<ObservedBook> {
        get { managedValue(Keys.books) }
        set { setManagedValue(newValue, Keys.books) }
    }
    func addToBooks(_ book: ObservedBook) { managedAdd(book, for: Keys.books) }
    func addToBooks(_ books: NSSet) { managedAdd(books, for: Keys.books) }
    func removeFromBooks(_ books: NSSet) { managedRemove(books, for: Keys.books) }
    var primitiveBooks: NSMutableSet { managedValue(Keys.primitiveBooks) }

    /// An accessor as the Core Data Programming Guide writes it.
    func add(primitive book: ObservedBook) {
        willChangeValue(forKey: "books", withSetMutation: .union, using: [book])
        primitiveBooks.add(book)
        didChangeValue(forKey: "books", withSetMutation: .union, using: [book])
    }

    /// Computed: found by key for the sake of observers by name.
    var fullName: String { "\(name) “\(nickname ?? "")”" }

    override func value(forUndefinedKey key: String) -> Any? {
        key == "fullName" ? fullName : key == "mood" ? mood : super.value(forUndefinedKey: key)
    }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "fullName" ? ["name", "nickname"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }

    /// Not in the model.
    var mood = "calm" {
        willSet { willChangeValue(forKey: "mood") }
        didSet { didChangeValue(forKey: "mood") }
    }
}

final class ObservedBook: NSManagedObject {
    var title: String? {
        get { managedValue(Keys.title) }
        set { setManagedValue(newValue, Keys.title) }
    }
    var author: ObservedAuthor? {
        get { managedValue(Keys.author) }
        set { setManagedValue(newValue, Keys.author) }
    }
    var chapters: NSOrderedSet? {
        get { managedValue(Keys.chapters) }
        set { setManagedValue(newValue, Keys.chapters) }
    }
    func insertIntoChapters(_ chapter: NSManagedObject, at index: Int) {
        managedInsert(chapter, at: index, for: Keys.chapters)
    }
    func removeFromChapters(at indexes: NSIndexSet) { managedRemove(at: indexes, for: Keys.chapters) }
}

/// Notes what it is told, as observers by name do.
final class Spy: NSObject, NSKeyValueObserving {
    var heard: [(keyPath: String?, object: NSManagedObject?, change: [NSKeyValueChangeKey: Any])] = []
    var contexts: [UnsafeMutableRawPointer?] = []
    /// Called at each notification.
    var reaction: (() -> Void)?

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        heard.append((keyPath, object as? NSManagedObject, change ?? [:]))
        contexts.append(context)
        reaction?()
    }

    func values(_ key: NSKeyValueChangeKey) -> [String] {
        heard.map { entry in entry.change[key].map { $0 is NSNull ? "nothing" : "\($0)" } ?? "-" }
    }
    var new: [String] { values(.newKey) }
    var old: [String] { values(.oldKey) }
    var kinds: [NSKeyValueChange?] {
        heard.map { ($0.change[.kindKey] as? NSNumber).flatMap { NSKeyValueChange(rawValue: $0.uintValue) } }
    }
}

extension Library {
    /// The library with classes that are observed, in memory or in a file.
    static func observed(at url: URL? = nil) throws -> NSPersistentContainer {
        let model = model()
        model.entitiesByName["Author"]?.managedObjectClassName = String(reflecting: ObservedAuthor.self)
        model.entitiesByName["Book"]?.managedObjectClassName = String(reflecting: ObservedBook.self)
        return try url.map { try stored(at: $0, model) } ?? inMemory(model)
    }
}
