@_spi(GeneratedCode) import CoreData
import Testing

private enum Keys {
    static let name = ManagedPropertyKey("name")
    static let age = ManagedPropertyKey("age")
    static let rating = ManagedPropertyKey("rating")
    static let isLiving = ManagedPropertyKey("isLiving")
    static let born = ManagedPropertyKey("born")
    static let token = ManagedPropertyKey("token")
    static let photo = ManagedPropertyKey("photo")
    static let wealth = ManagedPropertyKey("wealth")
    static let homepage = ManagedPropertyKey("homepage")
    static let nickname = ManagedPropertyKey("nickname")
    static let primitiveName = ManagedPropertyKey("primitiveName")
    static let books = ManagedPropertyKey("books")
    static let author = ManagedPropertyKey("author")
    static let chapters = ManagedPropertyKey("chapters")
    static let title = ManagedPropertyKey("title")
}

/// A record class as CoreDataPlugin writes it.
private class AuthorRecord: NSManagedObject {
    enum Stage: Int16 { case child, adult = 18 }

    var name: String {
        get { managedValue(Keys.name) }
        set { setManagedValue(newValue, Keys.name) }
    }
    var age: Int16 {
        get { managedValue(Keys.age) }
        set { setManagedValue(newValue, Keys.age) }
    }
    var ageNumber: NSNumber? {
        get { managedValue(Keys.age) }
        set { setManagedValue(newValue, Keys.age) }
    }
    var stage: Stage {
        get { managedValue(Keys.age) }
        set { setManagedValue(newValue, Keys.age) }
    }
    var rating: Double {
        get { managedValue(Keys.rating) }
        set { setManagedValue(newValue, Keys.rating) }
    }
    var isLiving: Bool {
        get { managedValue(Keys.isLiving) }
        set { setManagedValue(newValue, Keys.isLiving) }
    }
    var born: Date? {
        get { managedValue(Keys.born) }
        set { setManagedValue(newValue, Keys.born) }
    }
    var bornInterval: TimeInterval {
        get { managedValue(Keys.born) }
        set { setManagedValue(newValue, Keys.born) }
    }
    var token: UUID? {
        get { managedValue(Keys.token) }
        set { setManagedValue(newValue, Keys.token) }
    }
    var photo: Data? {
        get { managedValue(Keys.photo) }
        set { setManagedValue(newValue, Keys.photo) }
    }
    var wealth: NSDecimalNumber? {
        get { managedValue(Keys.wealth) }
        set { setManagedValue(newValue, Keys.wealth) }
    }
    var homepage: URL? {
        get { managedValue(Keys.homepage) }
        set { setManagedValue(newValue, Keys.homepage) }
    }
    var nickname: String? {
        get { managedValue(Keys.nickname) }
        set { setManagedValue(newValue, Keys.nickname) }
    }
    var primitiveName: String? {
        get { managedValue(Keys.primitiveName) }
        set { setManagedValue(newValue, Keys.primitiveName) }
    }
    var books: Set<BookRecord> {
        get { managedValue(Keys.books) }
        set { setManagedValue(newValue, Keys.books) }
    }
    var tags: [String] {
        get { managedValue(Keys.nickname) }
        set { setManagedValue(newValue, Keys.nickname) }
    }
    func addToBooks(_ books: NSSet) { managedAdd(books, for: Keys.books) }
    var changeableBooks: NSMutableSet { managedValue(Keys.books) }
    var primitiveBooks: NSMutableSet? { managedPrimitiveValue(for: Keys.books) }
    var shout: String { name.uppercased() + (nickname ?? "") }
}

private class BookRecord: NSManagedObject {
    var title: String? {
        get { managedValue(Keys.title) }
        set { setManagedValue(newValue, Keys.title) }
    }
    var author: AuthorRecord? {
        get { managedValue(Keys.author) }
        set { setManagedValue(newValue, Keys.author) }
    }
    var chapters: NSOrderedSet? {
        get { managedValue(Keys.chapters) }
        set { setManagedValue(newValue, Keys.chapters) }
    }
    var changeableChapters: NSMutableOrderedSet? { managedValue(Keys.chapters) }
}

@MainActor @Suite("Generated accessors")
struct ManagedAccessorTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = String(reflecting: AuthorRecord.self)
        model.entitiesByName["Book"]?.managedObjectClassName = String(reflecting: BookRecord.self)
        container = try Library.inMemory(model)
    }

    @Test("What one sets, the other and key-value coding read")
    func values() {
        let author = AuthorRecord(context: context)
        let token = UUID()
        author.name = "Astrid"
        author.age = 94
        author.rating = 4.5
        author.isLiving = false
        author.born = Date(timeIntervalSinceReferenceDate: 7)
        author.token = token
        author.photo = Data([1, 2])
        author.wealth = NSDecimalNumber(string: "0.1")
        author.homepage = URL(string: "https://example.org")
        #expect(author.value(forKey: "name") as? String == "Astrid")
        #expect(author.value(forKey: "age") as? Int == 94)
        #expect(author.value(forKey: "rating") as? Double == 4.5)
        #expect(author.value(forKey: "isLiving") as? Bool == false)
        #expect(author.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: 7))
        #expect(author.value(forKey: "token") as? UUID == token)
        author.setValue("Selma", forKey: "name")
        #expect(author.name == "Selma")
        #expect(author.photo == Data([1, 2]))
        #expect(author.wealth == NSDecimalNumber(string: "0.1"))
        #expect(author.homepage?.host == "example.org")
    }

    @Test("No value is zero, an empty string, or nil, by the property's type")
    func noValue() {
        let author = AuthorRecord(context: context)
        author.setValue(nil, forKey: "rating")
        #expect(author.name.isEmpty)
        #expect(author.age == 0)
        #expect(author.rating == 0)
        #expect(author.born == nil)
        #expect(author.ageNumber == nil)
        #expect(author.books.isEmpty)
    }

    @Test("One attribute can be read as a scalar, a number object or an enumeration")
    func otherTypes() {
        let author = AuthorRecord(context: context)
        author.stage = .adult
        #expect(author.age == 18)
        #expect(author.ageNumber == 18)
        author.ageNumber = 0
        #expect(author.stage == .child)
        author.bornInterval = 60
        #expect(author.born == Date(timeIntervalSinceReferenceDate: 60))
    }

    @Test("A primitive property changes the value without a change of the object")
    func primitive() throws {
        let author = AuthorRecord(context: context)
        author.name = "Astrid"
        try context.save()
        author.primitiveName = "Quiet"
        #expect(author.name == "Quiet")
        #expect(!author.hasChanges)
        author.name = "Loud"
        #expect(author.primitiveName == "Loud")
        #expect(author.hasChanges)
    }

    @Test("Relationships are typed, and their inverses are kept")
    func relationships() {
        let author = AuthorRecord(context: context)
        let book = BookRecord(context: context)
        let other = BookRecord(context: context)
        author.books = [book]
        #expect(book.author === author)
        author.addToBooks(NSSet(object: other))
        #expect(author.books == [book, other])
        book.author = nil
        #expect(author.books == [other])
    }

    // Core Data's own sets are of these classes, as which programs declare relationships.
    @Test("Relationships that are declared as sets to be changed in place are changed so")
    func changeableSets() {
        let (author, book) = (AuthorRecord(context: context), BookRecord(context: context))
        author.changeableBooks.add(book)
        #expect(author.books == [book] && book.author === author && author.changeableBooks.count == 1)
        author.changeableBooks.remove(book)
        #expect(author.books.isEmpty && book.author == nil)
        author.primitiveBooks?.add(book)
        #expect(author.books == [book] && book.author === author)
        let chapters = ["A", "B"].map { context.make("Chapter", ["title": $0]) }
        book.changeableChapters?.add(chapters[1])
        book.changeableChapters?.insert(chapters[0], at: 0)
        #expect(book.chapters?.array as? [NSManagedObject] == chapters)
    }

    @Test("The objects of an ordered relationship are inserted, replaced and removed by position")
    func ordered() {
        let book = BookRecord(context: context)
        let chapters = (0..<4).map { context.make("Chapter", ["title": "\($0)"]) }
        func titles() -> String {
            (book.chapters?.array ?? []).compactMap { ($0 as? NSManagedObject)?.string("title") }.joined()
        }
        book.managedAdd(NSOrderedSet(array: [chapters[0], chapters[1]]), for: Keys.chapters)
        book.managedInsert(chapters[2], at: 1, for: Keys.chapters)
        #expect(titles() == "021")
        book.managedReplace(at: 0, with: chapters[3], for: Keys.chapters)
        #expect(titles() == "321")
        book.managedRemove(at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)), for: Keys.chapters)
        #expect(titles() == "3")
        book.managedInsert([chapters[0], chapters[1]], at: IndexSet([0, 2]), for: Keys.chapters)
        #expect(titles() == "031")
    }

    @Test("Objects of an ordered relationship that replace one another trade places")
    func replacedByOneAnother() {
        let book = BookRecord(context: context)
        let chapters = (0..<3).map { context.make("Chapter", ["title": "\($0)"]) }
        book.managedAdd(NSOrderedSet(array: chapters), for: Keys.chapters)
        book.managedReplace(at: IndexSet([0, 2]), with: [chapters[2], chapters[0]], for: Keys.chapters)
        #expect(book.chapters?.array as? [NSManagedObject] == chapters.reversed())
    }

    @Test("A fault fires when a property is read")
    func fault() throws {
        let author = AuthorRecord(context: context)
        author.name = "Astrid"
        try context.save()
        context.refresh(author, mergeChanges: false)
        #expect(author.isFault)
        #expect(author.name == "Astrid")
        #expect(!author.isFault)
    }
}

@Suite("Names of key paths")
struct KeyPathProbeTests {
    @Test("A key path has the names of the properties that it reads")
    func names() {
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.name) == "name")
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.age) == "age")
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.stage) == "age")
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.born) == "born")
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.homepage) == "homepage")
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.books) == "books")
        #expect(KeyPathProbe.keyPathName(\BookRecord.chapters) == "chapters")
    }

    @Test("It goes through relationships")
    func paths() {
        #expect(KeyPathProbe.keyPathName(\BookRecord.author) == "author")
        #expect(KeyPathProbe.keyPathName(\BookRecord.author?.name) == "author.name")
    }

    @Test("One that computes from several properties, or from none, has no name")
    func others() {
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.shout) == nil)
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.isFault) == nil)
    }

    @Test("What is read of a value has no name, and does not stop the program")
    func partsOfValues() {
        let keyPaths: [PartialKeyPath<AuthorRecord>] = [
            \.tags[0], \.tags.count, \.name.count, \.nickname?.count, \.nickname!.count, \.photo![3],
            \.books.first!.title,
        ]
        for keyPath in keyPaths { #expect(KeyPathProbe.keyPathName(keyPath) == nil, "\(keyPath)") }
        #expect(KeyPathProbe.keyPathName(\BookRecord.chapters![0]) == nil)
        #expect(KeyPathProbe.keyPathName(\BookRecord.author?.tags[1]) == nil)
    }

    @Test("A value that is unwrapped by force, and the raw value of an enumeration, have the property's name")
    func unwrapped() {
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.nickname!) == "nickname")
        #expect(KeyPathProbe.keyPathName(\BookRecord.author!.homepage!) == "author.homepage")
        #expect(KeyPathProbe.keyPathName(\AuthorRecord.stage.rawValue) == "age")
    }
}
