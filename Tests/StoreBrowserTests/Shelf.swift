import CoreData
import HTTPMessages
import StoreReading
import TestSupport

@testable import StoreBrowser

/// A small store of books, and a router on it.
struct Shelf {
    static let token = "secret"
    let folder: TestFolder
    let session: BrowserSession
    let router: Router

    init(count: Int = 23, isWritable: Bool = false, patience: Double? = nil) throws {
        folder = try TestFolder()
        let url = folder.store
        try Self.fill(url, count)
        session = try BrowserSession(isWritable: isWritable) { isWritable, announcesChanges in
            var opening = DirectStore.Opening(path: url.path)
            (opening.isWritable, opening.announcesChanges) = (isWritable, announcesChanges)
            opening.timeout = patience
            return try DirectStore(opening)
        }
        router = Router(session, graphviz: Graphviz(path: ""))
    }

    func get(_ target: String) -> HTTPResponse { router.response(to: HTTPRequest("GET", target), token: Self.token) }

    func post(_ target: String, _ form: String = "") -> HTTPResponse {
        router.response(to: HTTPRequest("POST", target, body: Data(form.utf8)), token: Self.token)
    }

    func entity(_ name: String) -> EntityLayout? { session.store.layout.entityByName[name] }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    static func model() -> NSManagedObjectModel {
        let (book, novel, author) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (book.name, novel.name, author.name) = ("Book", "Novel", "Author")
        let (writer, books, idol) = (
            NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription()
        )
        (writer.name, writer.destinationEntity, writer.maxCount, writer.isOptional) = ("author", author, 1, true)
        (books.name, books.destinationEntity, books.isOptional) = ("books", book, true)
        (writer.inverseRelationship, books.inverseRelationship) = (books, writer)
        // One that leads nowhere back.
        (idol.name, idol.destinationEntity, idol.maxCount, idol.isOptional) = ("idol", author, 1, true)
        let pages = attribute("pages", .integer32AttributeType)
        pages.setValidationPredicates(
            [NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["Not less than none."])
        book.properties = [
            attribute("title", .stringAttributeType), attribute("price", .decimalAttributeType), pages,
            attribute("published", .dateAttributeType), attribute("data", .binaryDataAttributeType), writer,
        ]
        author.properties = [attribute("name", .stringAttributeType), books, idol]
        book.subentities = [novel]
        let model = NSManagedObjectModel()
        model.entities = [book, novel, author]
        return model
    }

    private static func fill(_ url: URL, _ count: Int) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("<b>Jane</b> & \"Co\"", forKey: "name")
            author.setValue(author, forKey: "idol")
            try context.save()
            for number in 1...count {
                let book = NSEntityDescription.insertNewObject(
                    forEntityName: number % 7 == 0 ? "Novel" : "Book", into: context)
                book.setValue("Title \(number % 5)", forKey: "title")
                book.setValue(number % 4 == 0 ? nil : NSDecimalNumber(value: number % 3), forKey: "price")
                book.setValue(number, forKey: "pages")
                book.setValue(
                    number % 6 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number % 4) + 0.25),
                    forKey: "published")
                book.setValue(number == 1 ? Data("<svg onload=alert(1)>".utf8) : nil, forKey: "data")
                book.setValue(number % 2 == 0 ? author : nil, forKey: "author")
                try context.save()
            }
        }
        try coordinator.remove(store)
    }
}
