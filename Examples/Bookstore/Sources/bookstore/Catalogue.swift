import Foundation
import Pippin

/// What the shelves hold on the first day.
enum Catalogue {
    static let stores = [
        Store(
            id: "amazon", brand: "Amazon",
            books: [
                Book(
                    id: "9780141439471", title: "Frankenstein", price: 8.5, publisher: "Penguin Classics",
                    author: shelley),
                Book(
                    id: "9780141439518", title: "Pride and Prejudice", price: 9, publisher: "Penguin Classics",
                    author: austen),
                Book(id: "9780141439587", title: "Emma", price: 9, publisher: "Penguin Classics", author: austen),
                Book(
                    id: "9780142437247", title: "Moby-Dick", price: 17, publisher: "Penguin Classics", author: melville
                ),
            ]),
        Store(
            id: "safari", brand: "Safari",
            books: [
                Book(
                    id: "9780201657883", title: "Programming Pearls", price: 49.99, publisher: "Addison-Wesley",
                    author: bentley),
                Book(
                    id: "9780134757599", title: "Refactoring", price: 54.99, publisher: "Addison-Wesley",
                    author: fowler),
            ]),
    ]

    static let firstReviews = [
        Review(
            id: UUID(), book: Reference(id: "9780142437247"),
            content: "Came for the whale, stayed for the chapter on rope.",
            createdAt: Date(), user: ada),
        Review(
            id: UUID(), book: Reference(id: "9780142437247"), content: "Too much water.",
            createdAt: Date() + 1, user: blaise),
        Review(
            id: UUID(), book: Reference(id: "9780134757599"), content: "Read it twice. The second time went faster.",
            createdAt: Date() + 2, user: ada),
    ]

    static func returningReview(visit: Int) -> Review {
        Review(
            id: UUID(), book: Reference(id: "9780141439471"),
            content: "Visit no. \(visit), and the creature still has no name.",
            createdAt: Date(), user: blaise)
    }

    static func review(atPage page: Int) -> Review {
        Review(
            id: UUID(), book: Reference(id: "9780141439471"),
            content: "Page \(page), and I am on the creature's side.", createdAt: Date(), user: blaise)
    }

    private static let austen = Author(id: "austen", name: "Jane Austen")
    private static let bentley = Author(id: "bentley", name: "Jon Bentley")
    private static let fowler = Author(id: "fowler", name: "Martin Fowler")
    private static let melville = Author(id: "melville", name: "Herman Melville")
    private static let shelley = Author(id: "shelley", name: "Mary Shelley")

    private static let ada = User(id: "ada", name: "Ada")
    private static let blaise = User(id: "blaise", name: "Blaise")
}
