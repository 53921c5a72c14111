import CoreData
import Testing

/// What the tests of apps make of Core Data's classes.
@Suite("Objects that app code makes with no argument")
struct EmptyInitializerTests {
    private final class Saved: NSPersistentHistoryTransaction, @unchecked Sendable {
        override var author: String? { "widget" }
    }

    @Test("A subclass stands for a transaction of the history")
    func transaction() {
        let transaction = Saved()
        #expect(transaction.author == "widget" && transaction.changes == nil && transaction.storeID == "")
        #expect(transaction.objectIDNotification().userInfo?[NSInsertedObjectIDsKey] == nil)
    }

    @Test("An index gets its name and elements afterwards")
    func index() throws {
        let title = NSAttributeDescription()
        (title.name, title.attributeType) = ("title", .stringAttributeType)
        let index = NSFetchIndexDescription()
        index.name = "byTitle"
        index.elements = [NSFetchIndexElementDescription(property: title, collationType: .binary)]
        let entity = NSEntityDescription()
        entity.name = "Note"
        entity.properties = [title]
        entity.indexes = [index]
        #expect(entity.indexes.map(\.name) == ["byTitle"] && index.elements.first?.propertyName == "title")
    }
}
