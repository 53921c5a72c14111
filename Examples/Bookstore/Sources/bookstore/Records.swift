import Pippin

// How each struct goes into its record, and comes out again. The records' properties are not written here: they are generated
// from the model, Bookstore.xcdatamodeld.
//
// `record(from:in:)` finds the record with the struct's identifier, or inserts one, so that two books by one author end up
// with one author's record.

final class StoreRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ store: Store) throws {
        brand = store.brand
        books = NSSet(array: try BookRecord.records(from: store.books, in: managedObjectContext))
    }

    func toModel() throws -> Store {
        let books = (books as? Set<BookRecord> ?? []).map { $0.toModel() }
        return Store(uid: uid ?? "", brand: brand ?? "", books: books.sorted { $0.title < $1.title })
    }
}

final class BookRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ book: Book) throws {
        title = book.title
        price = book.price
        publisher = book.publisher
        author = try book.author.map { try AuthorRecord.record(from: $0, in: managedObjectContext) }
    }

    func toModel() -> Book {
        Book(uid: uid ?? "", title: title ?? "", price: price, publisher: publisher, author: author?.toModel())
    }
}

final class AuthorRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ author: Author) {
        name = author.name
    }

    func toModel() -> Author {
        Author(uid: uid ?? "", name: name ?? "")
    }
}

final class ReviewRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ review: Review) throws {
        bookId = review.bookId
        content = review.content
        createdAt = review.createdAt
        user = try review.user.map { try UserRecord.record(from: $0, in: managedObjectContext) }
    }

    func toModel() -> Review {
        Review(
            uid: uid ?? UUID(), bookId: bookId ?? "", content: content ?? "", createdAt: createdAt ?? .distantPast,
            user: user?.toModel())
    }
}

final class UserRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ user: User) {
        name = user.name
    }

    func toModel() -> User {
        User(uid: uid ?? "", name: name ?? "")
    }
}
