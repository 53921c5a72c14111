// What the page speaks of without showing it.
import Pippin

struct Book: CoreModel {
    let id: String
    var price: Decimal?
}

let books: [Book] = []
