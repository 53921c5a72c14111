import Foundation
import Pippin

// What the book store works with: plain values, which know nothing of a database. All that Pippin asks of them is an identifier.

/// A store owns its books: they come and go with it.
struct Store: CoreModel {
    let uid: String
    var brand: String
    var books: [Book]
}

struct Book: CoreModel {
    /// The ISBN.
    let uid: String
    var title: String
    var price: Double
    var publisher: String?
    var author: Author?
}

struct Author: CoreModel {
    let uid: String
    var name: String
}

/// A review knows its book; the book does not drag its reviews along.
struct Review: CoreModel {
    let uid: UUID
    let bookId: Book.UidType
    var content: String
    var createdAt: Date
    var user: User?
}

struct User: CoreModel {
    let uid: String
    var name: String
}
