import CoreData
import HTTPMessages
import SQLiteConnection
import StoreReading
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("Other stores in the browser")
struct OtherStoreTests {
    private func router(_ path: String, model: String? = nil, isWritable: Bool = false) throws -> Router {
        let session = try BrowserSession(isWritable: isWritable) { isWritable, announcesChanges in
            var opening = DirectStore.Opening(path: path, modelPath: model)
            (opening.isWritable, opening.announcesChanges) = (isWritable, announcesChanges)
            return try DirectStore(opening)
        }
        return Router(session, graphviz: Graphviz(path: ""))
    }

    private func text(_ router: Router, _ target: String) -> String {
        router.response(to: HTTPRequest("GET", target), token: "secret").text
    }

    @Test("A store without a model is shown by its tables: sorted, filtered, counted")
    func tables() throws {
        let shelf = try Shelf()
        let url = shelf.folder.store
        try execute("DELETE FROM Z_MODELCACHE", in: url)
        let router = try router(url.path)
        #expect(text(router, "/").contains("Its tables are shown as they are"))
        #expect(text(router, "/count/Book?where=pages%20%3E%2010").contains("13"))
        #expect(text(router, "/entity/Book?sort=title&size=3").contains("rel=\"next\""))
        #expect(text(router, "/object/Book/2").contains("Title 2"))
        #expect(throws: CommandError.self) {
            var opening = DirectStore.Opening(path: url.path)
            opening.isWritable = true
            _ = try DirectStore(opening)
        }
    }

    @Test("A store whose file was removed or replaced is not shown any more, and it is said why")
    func replaced() throws {
        let shelf = try Shelf(count: 3)
        let url = shelf.folder.store
        let other = shelf.folder.file("other.sqlite")
        try FileManager.default.copyItem(at: url, to: other)
        let router = try router(url.path, isWritable: true)
        #expect(text(router, "/entity/Book").contains("Title 2"))
        for change in [
            { try FileManager.default.removeItem(at: url) }, { try FileManager.default.moveItem(at: other, to: url) },
        ] {
            try change()
            let page = router.response(to: HTTPRequest("GET", "/entity/Book"), token: "secret")
            #expect(page.status == 409)
            #expect(page.text.contains("was removed, or replaced by another one, since it was opened; open it again"))
            #expect(router.response(to: HTTPRequest("GET", "/style.css"), token: "secret").status == 200)
        }
    }

    /// Nine books in a file that is read as a whole.
    ///
    /// - Returns: the path of the model.
    private func fill(_ folder: TestFolder, _ type: String) throws -> String {
        let model = Shelf.model()
        let package = folder.file("Books.xcdatamodel")
        try ModelPackageWriting.write(model, to: package)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 1...9 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("Title \(number)", forKey: "title")
                book.setValue(number, forKey: "pages")
            }
            try context.save()
        }
        try coordinator.remove(store)
        return package.path
    }

    @Test("A store whose file is XML is edited, too, and shows it", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func editing(_ type: String) throws {
        let folder = try TestFolder()
        let model = try fill(folder, type)
        let router = try router(folder.store.path, model: model, isWritable: true)
        func post(_ target: String, _ form: String) -> Int {
            router.response(to: HTTPRequest("POST", target, body: Data(form.utf8)), token: "secret").status
        }
        let keys = text(router, "/entity/Book").split(separator: "data-key=\"").dropFirst().map {
            $0.prefix { $0 != "\"" }
        }
        try #require(keys.count == 9)
        #expect(post("/edit/Book/\(keys[0])", "v.title=Emma&confirmed=1") == 303)
        #expect(text(router, "/object/Book/\(keys[0])").contains("Emma"))
        #expect(text(router, "/count/Book?where=title%20==%20%22Emma%22") == "{\"count\": 1}")
        #expect(post("/delete/Book/\(keys[1])", "") == 303)
        #expect(text(router, "/count/Book") == "{\"count\": 8}")
        #expect(post("/undo", "") == 303)
        #expect(text(router, "/count/Book") == "{\"count\": 9}")
        router.session.close()
        let later = try self.router(folder.store.path, model: model)
        #expect(text(later, "/count/Book?where=title%20==%20%22Emma%22") == "{\"count\": 1}")
    }

    @Test("A store whose file is XML is paged, too", arguments: [NSXMLStoreType, NSBinaryStoreType])
    func documents(_ type: String) throws {
        let folder = try TestFolder()
        let router = try router(folder.store.path, model: fill(folder, type))
        var (seen, target): (Set<String>, String?) = ([], "/entity/Book?sort=pages&order=down&size=4")
        while let current = target {
            let page = text(router, current)
            seen.formUnion(page.split(separator: "data-key=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) })
            target = page.split(separator: "rel=\"next\"").first.flatMap { before in
                page.contains("rel=\"next\"")
                    ? before.split(separator: "href=\"").last.map { String($0.prefix { $0 != "\"" }) } : nil
            }.map { $0.replacing("/secret", with: "").replacing("&amp;", with: "&") }
        }
        #expect(seen.count == 9)
        #expect(text(router, "/count/Book?where=pages%20%3E%203") == "{\"count\": 6}")
    }

    @Test("A file that is not a store is reported", arguments: ["hello", ""])
    func noStore(_ content: String) throws {
        let folder = try TestFolder()
        try content.write(to: folder.store, atomically: true, encoding: .utf8)
        #expect(throws: CommandError.self) { try router(folder.store.path) }
    }
}

/// Writes a model that a test has built as a source, for `--model`.
private enum ModelPackageWriting {
    static func write(_ model: NSManagedObjectModel, to package: URL) throws {
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        let text = """
            <model><entity name="Author"><attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
            <relationship name="idol" optional="YES" maxCount="1" destinationEntity="Author"/></entity>
            <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/><attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="pages" optional="YES" attributeType="Integer 32"/><attribute name="published" optional="YES" attributeType="Date"/>
            <attribute name="data" optional="YES" attributeType="Binary"/>
            <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/></entity>
            <entity name="Novel" parentEntity="Book"/></model>
            """
        try Data(text.utf8).write(to: package.appendingPathComponent("contents"))
    }
}
