// What the page speaks of without showing it: the properties that the plugin writes.
import PippinRecords

let url = URL(fileURLWithPath: "books.sqlite")
let books: [Book] = []

extension BookRecord {
    @NSManaged var uid: String?
    @NSManaged var title: String?
    @NSManaged var author: AuthorRecord?
}

extension AuthorRecord {
    @NSManaged var uid: String?
    @NSManaged var name: String?
}

// SwiftPM makes this for a target with resources.
extension Bundle {
    static var module: Bundle { .main }
}
