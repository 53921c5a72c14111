// What the page speaks of without showing it.
import Pippin

let url = FileManager.default.temporaryDirectory.appendingPathComponent("books.sqlite")
let review = Review(uid: UUID(), book: Reference(Book(uid: "1", title: "", price: nil, author: nil)), text: "")
let draft = review

func show(_ reviews: [Review]) {}
