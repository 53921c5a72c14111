import CoreData
import Foundation

/// The same store without anything hostile in it, as pictures show it.
extension Bookshop {
    private static let shelf: [(author: String, books: [(title: String, price: String, pages: Int, year: Int)])] = [
        (
            "Jane Austen",
            [
                ("Emma", "9.00", 474, 1815), ("Persuasion", "8.50", 249, 1817),
                ("Pride and Prejudice", "9.00", 432, 1813), ("Sense and Sensibility", "8.50", 409, 1811),
                ("Mansfield Park", "9.50", 507, 1814), ("Northanger Abbey", "8.00", 254, 1817),
            ]
        ),
        (
            "Herman Melville",
            [
                ("Moby-Dick", "17.00", 720, 1851), ("Typee", "11.00", 302, 1846), ("Omoo", "11.50", 330, 1847),
                ("Billy Budd", "7.50", 128, 1924), ("The Confidence-Man", "12.00", 292, 1857),
            ]
        ),
        ("Mary Shelley", [("Frankenstein", "8.50", 273, 1818), ("The Last Man", "10.50", 470, 1826)]),
        (
            "George Eliot",
            [
                ("Middlemarch", "14.00", 880, 1871), ("Silas Marner", "7.00", 220, 1861),
                ("The Mill on the Floss", "10.00", 579, 1860), ("Daniel Deronda", "13.50", 796, 1876),
            ]
        ),
        (
            "Charles Dickens",
            [
                ("Bleak House", "13.00", 1017, 1853), ("Great Expectations", "9.50", 505, 1861),
                ("Hard Times", "8.00", 328, 1854), ("Our Mutual Friend", "13.50", 880, 1865),
            ]
        ),
    ]
    private static let opinions = [
        "Read it twice.", "The second half is the better one.", "Too much weather.", "At last.",
    ]

    func fillTidily() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        var number = 0
        for (name, books) in Self.shelf {
            var author: NSManagedObject?
            for book in books {
                number += 1
                let date = calendar.date(
                    from: DateComponents(year: book.year, month: number % 12 + 1, day: number % 28 + 1))
                // A transaction each, a minute's work for a history.
                try add(
                    "Book",
                    [
                        "title": book.title, "price": NSDecimalNumber(string: book.price), "pages": book.pages,
                        "published": date, "inPrint": number % 6 != 0, "isbn": UUID(),
                        "site": URL(string: "https://books.example/\(number)"), "weight": Double(book.pages) / 1000,
                        "details": Data(
                            "{\"shelf\": [\(number % 4 + 1), \"\(name.prefix(1))\"], \"used\": \(number % 3 == 0)}".utf8
                        ),
                    ], author: name, &author, reviews: Array(Self.opinions.prefix(number % 4)))
            }
        }
    }
}
