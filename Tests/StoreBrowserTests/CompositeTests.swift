import CoreData
import HTTPMessages
import StoreReading
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("A composite attribute in the browser")
struct CompositeTests {
    private let folder: TestFolder
    private let router: Router
    private static let image = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])

    init() throws {
        folder = try TestFolder()
        let url = folder.store
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for home in [["street": "Rue 1", "plan": Self.image, "place": ["x": 1.5]] as [String: Any], nil] {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(home, forKey: "home")
                try context.save()
            }
        }
        try coordinator.remove(store)
        let session = try BrowserSession(isWritable: true) { isWritable, announcesChanges in
            var opening = DirectStore.Opening(path: url.path)
            (opening.isWritable, opening.announcesChanges) = (isWritable, announcesChanges)
            return try DirectStore(opening)
        }
        router = Router(session, graphviz: Graphviz(path: ""))
    }

    private static func model() -> NSManagedObjectModel {
        let (place, home) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
        (place.name, place.isOptional) = ("place", true)
        place.elements = [Shelf.attribute("x", .doubleAttributeType), Shelf.attribute("y", .doubleAttributeType)]
        (home.name, home.isOptional) = ("home", true)
        home.elements = [
            Shelf.attribute("street", .stringAttributeType), Shelf.attribute("plan", .binaryDataAttributeType), place,
        ]
        let person = NSEntityDescription()
        person.name = "Person"
        person.properties = [Shelf.attribute("name", .stringAttributeType), home]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    private func get(_ target: String) -> HTTPResponse {
        router.response(to: HTTPRequest("GET", target), token: Shelf.token)
    }

    private func post(_ target: String, _ form: String = "") -> HTTPResponse {
        router.response(to: HTTPRequest("POST", target, body: Data(form.utf8)), token: Shelf.token)
    }

    private func row(_ key: Int) throws -> [String] {
        try plainSQL("SELECT ZSTREET, ZX, ZY FROM ZPERSON WHERE Z_PK = \(key)", in: folder.store)
    }

    @Test("has a field for each element, and one changes without the others")
    func editing() throws {
        let page = get("/edit/Person/1").text
        #expect(page.contains("name=\"v.home.street\" value=\"Rue 1\""), "\(page)")
        #expect(page.contains("name=\"v.home.place.x\" value=\"1.5\""))
        let question = post("/edit/Person/1", "v.home.street=Rue%202&v.home.place.y=3")
        #expect(question.text.contains("<del>Rue 1</del>") && question.text.contains("<ins>Rue 2</ins>"))
        #expect(try row(1) == ["Rue 1|1.5|"])
        #expect(post("/edit/Person/1", "v.home.street=Rue%202&v.home.place.y=3&confirmed=1").status == 303)
        #expect(try row(1) == ["Rue 2|1.5|3.0"])
        #expect(get("/value/Person/1/home/plan").headers.contains { $0.value == "image/png" }, "the others stay")
        #expect(post("/undo").status == 303)
        #expect(try row(1) == ["Rue 1|1.5|"])
    }

    @Test("gets a value by its first element where it has none, and loses it element by element")
    func none() throws {
        #expect(post("/edit/Person/2", "v.home.place.x=2&confirmed=1").status == 303)
        #expect(try row(2) == ["|2.0|"])
        #expect(post("/edit/Person/2", "n.home.place.x=on&confirmed=1").status == 303)
        #expect(try row(2) == ["||"])
        let refused = post("/edit/Person/2", "v.home.place.x=much&confirmed=1")
        #expect(refused.status == 422 && refused.text.contains("“home.place.x” needs a number."))
    }

    @Test("is not taken back when another program has changed it since")
    func others() throws {
        #expect(post("/edit/Person/1", "v.home.street=Mine&confirmed=1").status == 303)
        try execute("UPDATE ZPERSON SET ZSTREET = 'Theirs', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1", in: folder.store)
        let refused = post("/undo")
        #expect(refused.status == 409 && refused.text.contains("Somebody else has changed Person/p1, home since"))
        #expect(try row(1) == ["Theirs|1.5|"])
    }

    @Test("shows an image that is an element of it")
    func image() throws {
        let page = get("/object/Person/1").text
        #expect(page.contains("<img src=\"/secret/value/Person/1/home/plan\""), "\(page)")
        guard case .data(let data) = get("/value/Person/1/home/plan").body else {
            Issue.record("no bytes")
            return
        }
        #expect(data == Self.image)
        #expect(get("/value/Person/1/home/nothing").status == 404)
        #expect(get("/value/Person/1/name/plan").status == 404)
    }
}
