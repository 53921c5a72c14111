// What the page speaks of without showing it.
import PippinRecords

let url = URL(fileURLWithPath: "books.sqlite")
let books: [Book] = []

struct Book: Identifiable {
    let id: String
}

final class BookRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ book: Book) {}
    func toModel() -> Book { Book(id: "") }
}

// SwiftPM makes this for a target with resources.
extension Bundle {
    static var module: Bundle { .main }
}
