// What the page speaks of without showing it.
import PippinRecords

final class ChapterRecord: NSManagedObject {
    @NSManaged var id: Int64
    @NSManaged var title: String?
}

final class NoteRecord: NSManagedObject {}
