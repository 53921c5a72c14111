// What the page speaks of without showing it: the class that the plugin generates.
import CoreData

class Novel: NSManagedObject {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Novel> { NSFetchRequest(entityName: "Novel") }
}
