import CoreDataPostgres
import HTTPMessages
import PostgresServer
import StoreReading
import Testing

@testable import PippinBrowse
@testable import StoreBrowser

@Suite("A store in PostgreSQL, in the browser", .needsPostgres)
struct DatabaseTests {
    private func fill(_ url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shelf.model())
        let store = try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("<b>Jane</b>", forKey: "name")
            for number in 1...9 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("Title \(number)", forKey: "title")
                book.setValue(number, forKey: "pages")
                book.setValue(author, forKey: "author")
            }
            try context.save()
        }
        try coordinator.remove(store)
    }

    @Test("is shown by the copy that it keeps of its model: counts, pages, filters, relationships; and edited")
    func pages() throws {
        let database = try TestDatabase()
        let url = try #require(URL(string: database.uri()))
        try fill(url)
        let options = try BrowseOptions([url.absoluteString, "--write"])
        let session = try BrowserSession(isWritable: true, try StoreSource.opener(options))
        let router = Router(session, graphviz: Graphviz(path: ""))
        func get(_ target: String) -> HTTPResponse { router.response(to: HTTPRequest("GET", target), token: "secret") }
        #expect(get("/count/Book").text == "{\"count\": 9}")
        let page = get("/entity/Book?where=pages%20%3E%202&sort=pages&order=down&size=3&after=8")
        #expect(page.status == 200)
        let keys = page.text.split(separator: "data-key=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(keys.count == 3)
        #expect(get("/entity/Book").text.contains("&lt;b&gt;Jane"))
        #expect(get("/file").status == 200)
        #expect(get("/history").status == 200)
        let form = HTTPRequest("POST", "/edit/Book/1", body: Data("v.title=Emma&confirmed=1".utf8))
        #expect(router.response(to: form, token: "secret").status == 303)
        #expect(get("/count/Book?where=title%20==%20%22Emma%22").text == "{\"count\": 1}")
    }

    @Test("A database without a store is reported")
    func empty() throws {
        let database = try TestDatabase()
        let error = #expect(throws: CommandError.self) { try StoreSource.opener(BrowseOptions([database.uri()])) }
        #expect(error?.message.hasPrefix("there is no store in test_") == true)
    }

    @Test("A server that cannot be reached is named as that")
    func unreachable() throws {
        let error = #expect(throws: (any Error).self) {
            try StoreSource.opener(BrowseOptions(["postgresql://127.0.0.1:1/books"]))
        }
        #expect(error.map { Answer.text(of: $0) }?.contains("the server cannot be reached") == true)
    }
}
