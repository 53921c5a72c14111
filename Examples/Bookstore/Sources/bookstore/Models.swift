import Pippin

// What the book store works with, and its database's schema at the same time. There is no other.

/// A store owns its books: they come and go with it, in the order of the array.
struct Store: CoreModel {
    let id: String
    var brand: String
    var books: [Book]

    static var schema: Schema<Store> { Schema(.owns(\.books)) }
}

struct Book: CoreModel {
    /// The ISBN.
    let id: String
    var title: String
    var price: Double
    var publisher: String?
    var author: Author?
}

struct Author: CoreModel {
    let id: String
    var name: String
}

/// A review refers back to its book; the book does not drag its reviews along.
struct Review: CoreModel, Equatable {
    let id: UUID
    let book: Reference<Book>
    var content: String
    var createdAt: Date
    var user: User?
}

struct User: CoreModel, Equatable {
    let id: String
    var name: String
}
