// What the page speaks of without showing it.
import Pippin

let url = FileManager.default.temporaryDirectory.appendingPathComponent("books.sqlite")
let file = URL(fileURLWithPath: "books.csv")
let review = Review(id: UUID(), book: Reference(id: "1"), stars: 3, text: "")
let draft = review

func show(_ reviews: [Review]) {}
