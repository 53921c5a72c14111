// What the page speaks of without showing it.
import PippinRecords

let books: [Book] = []

extension BookRecord {
    @NSManaged var uuid: String?
    @NSManaged var title: String?
}
