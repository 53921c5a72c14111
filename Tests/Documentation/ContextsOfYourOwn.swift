// What the page speaks of without showing it.
import PippinRecords

let manager = PersistenceManager(modelName: "Bookstore", store: .memory)

final class BookRecord: NSManagedObject {
    @NSManaged var uid: String?
    @NSManaged var title: String?
}
