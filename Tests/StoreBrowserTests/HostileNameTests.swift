import CoreData
import HTTPMessages
import StoreReading
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("A model from elsewhere, in the browser")
struct HostileNameTests {
    private static let entity = "</title><script>owned()</script>\"'&/..\\N\n"
    private static let relationship = "all/of \"<them>%2F"
    private static let attribute = "a\"><img onerror=owned()>\\"

    private func store(in folder: TestFolder) throws {
        let entity = NSEntityDescription()
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.destinationEntity, relationship.isOptional) = (Self.relationship, entity, true)
        entity.name = Self.entity
        entity.properties = [Shelf.attribute(Self.attribute, .stringAttributeType), relationship]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let object = NSManagedObject(entity: entity, insertInto: context)
            object.setValue("<i>", forKey: Self.attribute)
            object.setValue(NSSet(object: object), forKey: Self.relationship)
            try context.save()
        }
        try coordinator.remove(store)
    }

    @Test(
        "Names of entities and attributes are text on every page, and lead to their pages",
        .enabled(if: Graphviz().executable != nil))
    func names() throws {
        let folder = try TestFolder()
        try store(in: folder)
        let path = folder.store.path
        let session = try BrowserSession(isWritable: true) { isWritable, announcesChanges in
            var opening = DirectStore.Opening(path: path)
            (opening.isWritable, opening.announcesChanges) = (isWritable, announcesChanges)
            return try DirectStore(opening)
        }
        let router = Router(session)
        let name = Address.encoded(Self.entity)
        for target in [
            "/", "/diagram", "/file", "/entity/\(name)", "/object/\(name)/1", "/edit/\(name)/1", "/delete/\(name)/1",
        ] {
            let response = router.response(to: HTTPRequest("GET", target), token: "secret")
            #expect(response.status == 200, "\(target)")
            #expect(!response.text.contains("<script>owned"), "\(target)")
            #expect(!response.text.contains("<img onerror"), "\(target)")
            #expect(!response.text.contains("\"><img"), "\(target)")
        }
        let object = router.response(to: HTTPRequest("GET", "/object/\(name)/1"), token: "secret").text
        let lists = object.matches(of: #/href="/secret(/entity/[^"]*\?(?:of|by)=[^"]*)"/#).map(\.1)
        #expect(lists.count == 2)
        for target in lists {
            let response = router.response(to: HTTPRequest("GET", String(target)), token: "secret")
            #expect(response.text.contains("data-key=\"1\""), "\(target)")
        }
        let report = try StoreReportPage.html(session.store, date: Date())
        #expect(!report.text.contains("<script>owned"))
        let export = router.response(to: HTTPRequest("GET", "/export/\(name)?format=csv"), token: "secret")
        #expect(export["Content-Disposition"] == "attachment; filename=\"titlescriptownedscriptN.csv\"")
    }
}
