// What the page speaks of without showing it.
import Pippin

let url = FileManager.default.temporaryDirectory.appendingPathComponent("books.sqlite")
let file = URL(fileURLWithPath: "books.csv")
let review = Review(id: UUID(), book: Reference(id: "1"), stars: 3, text: "")
let draft = review

func show(_ reviews: [Review]) {}
var progress: Progress { Progress(totalUnitCount: 1) }

enum V1 {
    struct Book: CoreModel {
        let id: String
        var title: String
    }
}

enum V2 {
    struct Book: CoreModel {
        let id: String
        var title: String
        var subtitle: String

        static var schema: Schema<Book> { Schema(.defaultValue(\.subtitle, "")) }
    }
}

struct Interval: Codable, Sendable {
    var start: Double
    var end: Double
}
