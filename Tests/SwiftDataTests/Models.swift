import Foundation
import SwiftData

/// The model of Xcode's template, as it stands there.
@Model
final class Item {
    var timestamp: Date

    init(timestamp: Date) {
        self.timestamp = timestamp
    }
}

/// A shop for books.
@Model
final class Book {
    #Index<Book>([\.title], [\.year, \.title])

    @Attribute(.unique) var isbn: String
    var title: String
    var year = 1800
    var price: Decimal?
    var kind: Kind = Kind.novel
    var tags: [String] = []
    var added: Date = Date(timeIntervalSinceReferenceDate: 0)
    var size: Size?
    @Transient var isOpen = false
    var author: Author?
    @Relationship(deleteRule: .cascade, inverse: \Review.book) var reviews: [Review] = []

    enum Kind: String, Codable { case novel, poem, play }

    struct Size: Codable, Equatable {
        var width: Int
        var height: Int
    }

    init(isbn: String, title: String, author: Author? = nil) {
        self.isbn = isbn
        self.title = title
        self.author = author
    }
}

@Model
final class Author {
    var name: String
    var books: [Book] = []

    init(name: String) { self.name = name }
}

@Model
final class Review {
    var stars: Int
    var text: String?
    var book: Book

    init(_ stars: Int, of book: Book) {
        self.stars = stars
        self.book = book
    }
}
