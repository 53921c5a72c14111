// What the page speaks of without showing it.
import PippinRecords

let url = URL(fileURLWithPath: "people.sqlite")

final class PersonRecord: NSManagedObject {
    @NSManaged var name: String?
    @NSManaged var age: Int
}
