import CoreData
import Foundation

/// A store of books with all kinds of values, some of them hostile.
struct Bookshop {
    private let context: NSManagedObjectContext

    init(at url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "bookshop"
    }

    // MARK: The model

    private static func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool = true)
        -> NSAttributeDescription
    {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
        return attribute
    }

    private static func relationship(_ name: String, _ entity: NSEntityDescription, toMany: Bool = false)
        -> NSRelationshipDescription
    {
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.destinationEntity, relationship.isOptional) = (name, entity, true)
        relationship.maxCount = toMany ? 0 : 1
        return relationship
    }

    static func model() -> NSManagedObjectModel {
        let (book, novel, author, review) = (entity("Book"), entity("GraphicNovel"), entity("Author"), entity("Review"))
        let (authorOfBook, books) = (relationship("author", author), relationship("books", book, toMany: true))
        (authorOfBook.inverseRelationship, books.inverseRelationship) = (books, authorOfBook)
        let (bookOfReview, reviews) = (relationship("book", book), relationship("reviews", review, toMany: true))
        (bookOfReview.inverseRelationship, reviews.inverseRelationship) = (reviews, bookOfReview)
        reviews.deleteRule = .cascadeDeleteRule
        let pages = attribute("pages", .integer32AttributeType)
        pages.setValidationPredicates(
            [NSPredicate(format: "SELF >= 1")], withValidationWarnings: ["A book has a page at least."])
        book.properties = [
            attribute("title", .stringAttributeType, isOptional: false), attribute("price", .decimalAttributeType),
            pages,
            attribute("published", .dateAttributeType), attribute("inPrint", .booleanAttributeType),
            attribute("isbn", .UUIDAttributeType), attribute("site", .URIAttributeType),
            attribute("cover", .binaryDataAttributeType),
            attribute("details", .binaryDataAttributeType), attribute("weight", .doubleAttributeType), authorOfBook,
            reviews,
        ]
        novel.properties = [attribute("illustrator", .stringAttributeType)]
        author.properties = [attribute("name", .stringAttributeType, isOptional: false), books]
        author.uniquenessConstraints = [["name"]]
        review.properties = [
            attribute("stars", .integer16AttributeType), attribute("text", .stringAttributeType), bookOfReview,
        ]
        book.subentities = [novel]
        let model = NSManagedObjectModel()
        model.entities = [book, novel, author, review]
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }

    // MARK: The objects

    /// An image of one red point.
    private static let image =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")
        ?? Data()
    private static let hostile = [
        "<script>document.title='owned'</script>", "\"><img src=x onerror=document.title='owned'>",
        "javascript:alert(1)",
        "</td></tr></table><h1 id=owned>broken out</h1>", "'; DROP TABLE ZBOOK; --", "=cmd|' /C calc'!A0",
        "\u{202E}txt.exe",
    ]

    func fill() throws {
        try context.performAndWait {
            let names = ["Jane Austen", "Herman Melville", "Mary Shelley", "Italo Calvino", "Hergé", Self.hostile[0]]
            let authors = names.map { name in
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                author.setValue(name, forKey: "name")
                return author
            }
            for number in 1...180 {
                let isNovel = number % 20 == 0
                let book = NSEntityDescription.insertNewObject(
                    forEntityName: isNovel ? "GraphicNovel" : "Book", into: context)
                let title = number <= Self.hostile.count ? Self.hostile[number - 1] : "Volume \(number)"
                book.setValue(title, forKey: "title")
                book.setValue(NSDecimalNumber(string: "\(number % 40).95"), forKey: "price")
                book.setValue(100 + number * 7, forKey: "pages")
                book.setValue(Date(timeIntervalSinceReferenceDate: Double(number) * 86_400 * 31), forKey: "published")
                book.setValue(number % 3 == 0, forKey: "inPrint")
                book.setValue(UUID(), forKey: "isbn")
                book.setValue(
                    URL(string: number == 3 ? "javascript:alert(1)" : "https://books.example/\(number)"), forKey: "site"
                )
                book.setValue(number % 2 == 0 ? Self.image : Data((0..<200).map { UInt8($0) }), forKey: "cover")
                book.setValue(Data("{\"shelf\": [\(number), \"<b>x</b>\"], \"used\": false}".utf8), forKey: "details")
                book.setValue(number % 5 == 0 ? nil : Double(number) / 3, forKey: "weight")
                book.setValue(authors[number % authors.count], forKey: "author")
                for stars in 0..<(number % 4) {
                    let review = NSEntityDescription.insertNewObject(forEntityName: "Review", into: context)
                    review.setValue(stars + 1, forKey: "stars")
                    review.setValue("Review \(stars) of \(title)", forKey: "text")
                    review.setValue(book, forKey: "book")
                }
            }
            try context.save()
            authors[0].setValue("Jane  Austen", forKey: "name")
            try context.save()
            authors[0].setValue("Jane Austen", forKey: "name")
            try context.save()
        }
    }

    /// Many books, without a history of them.
    func fill(count: Int) throws {
        try context.performAndWait {
            let date = Date(timeIntervalSinceReferenceDate: 0)
            var number = 0
            let request = NSBatchInsertRequest(
                entityName: "Book",
                dictionaryHandler: { values in
                    number += 1
                    guard number <= count else { return true }
                    values["title"] = "Book number \(number)"
                    values["price"] = NSDecimalNumber(value: number % 100)
                    values["pages"] = number % 900 + 1
                    values["published"] = date.addingTimeInterval(Double(number) * 60)
                    values["inPrint"] = number % 2 == 0
                    return false
                })
            _ = try context.execute(request)
        }
    }

    /// A book, with its author, who is made where there is none yet, and with reviews.
    func add(
        _ entity: String, _ values: [String: Any?], author name: String, _ author: inout NSManagedObject?,
        reviews: [String]
    ) throws {
        author = try context.performAndWait {
            let author = author ?? NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue(name, forKey: "name")
            let book = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { book.setValue(value, forKey: key) }
            book.setValue(author, forKey: "author")
            for (stars, text) in reviews.enumerated() {
                let review = NSEntityDescription.insertNewObject(forEntityName: "Review", into: context)
                review.setValue(5 - stars, forKey: "stars")
                review.setValue(text, forKey: "text")
                review.setValue(book, forKey: "book")
            }
            try context.save()
            return author
        }
    }

    func add(title: String) throws {
        try context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue(title, forKey: "title")
            book.setValue(12, forKey: "pages")
            try context.save()
        }
    }
}
