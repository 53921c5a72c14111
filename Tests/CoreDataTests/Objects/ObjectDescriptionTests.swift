import CoreData
import Testing

@Suite("Descriptions of managed objects")
struct ObjectDescriptionTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
    }

    private func address(_ object: AnyObject) -> String {
        "0x" + String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
    }

    private func lines(_ object: NSManagedObject) -> [String] {
        object.description.split(separator: "\n").map(String.init)
    }

    @Test("have class, address, entity and ID, and a line for each property in the order of the names")
    func values() throws {
        try context.performAndWait {
            let author = context.make("Author", ["name": "Jane Austen"])
            let book = context.make("Book", ["title": "Emma", "isbn": "0-19", "author": author])
            try context.save()
            let (id, authorID) = (book.objectID, author.objectID)
            let read = lines(book)
            #expect(
                read.first
                    == "<NSManagedObject: \(address(book))> (entity: Book; id: \(address(id)) <\(id)>; data: {")
            #expect(read[1].hasPrefix("    author = \"0x") && read[1].hasSuffix(" <\(authorID)>\";"))
            #expect(read.contains("    isbn = \"0-19\";") && read.contains("    price = nil;"))
            #expect(read.suffix(2) == ["    title = Emma;", "})"])
        }
    }

    @Test("list the IDs of relationships that were read, and read no others")
    func relationships() throws {
        try context.performAndWait {
            let author = context.make("Author", ["name": "Ada"])
            let book = context.make("Book", ["author": author])
            #expect(lines(book).contains("    tags = ("))
            try context.save()
            context.refresh(author, mergeChanges: false)
            #expect(author.description.hasSuffix("data: <fault>)"))
            #expect(author.isFault)
            #expect(author.shown("name") == "Ada")
            #expect(lines(author).contains("    books = \"<relationship fault: 'books'>\";"))
            #expect(author.hasFault(forRelationshipNamed: "books"))
            #expect(author.objects("books") == [book])
            let read = lines(author)
            let start = try #require(read.firstIndex(of: "    books = ("))
            #expect(read[start + 1] == "        \"\(address(book.objectID)) <\(book.objectID)>\"")
        }
    }
}
