import CoreData
import HTTPMessages
import StoreReading
import TestSupport
import Testing

@testable import StoreBrowser

@Suite("A model from elsewhere, in the browser")
struct HostileNameTests {
    private static let entity = "</title><script>owned()</script>\"'&/..\\N\n"
    private static let attribute = "a\"><img onerror=owned()>\\"

    private func store(in folder: TestFolder) throws {
        let entity = NSEntityDescription()
        (entity.name, entity.properties) = (Self.entity, [Shelf.attribute(Self.attribute, .stringAttributeType)])
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
        let report = try StoreReportPage.html(session.store, date: Date())
        #expect(!report.text.contains("<script>owned"))
        let export = router.response(to: HTTPRequest("GET", "/export/\(name)?format=csv"), token: "secret")
        #expect(export["Content-Disposition"] == "attachment; filename=\"titlescriptownedscriptN.csv\"")
    }
}
