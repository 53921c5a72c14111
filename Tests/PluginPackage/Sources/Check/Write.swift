import CoreData
import Foundation
import Geometry
import Library

extension Check {
    /// Makes one of each, through generated and hand-written properties.
    static func write(_ context: NSManagedObjectContext) throws {
        let author = Author(context: context)
        author.name = "Astrid"
        author.age = 94
        author.in = true
        author.rank = 7
        author.id = UUID(uuidString: "5F3B7C2A-9D0E-4E55-8A53-0B1D2C3E4F50")
        author.born = Date(timeIntervalSinceReferenceDate: 1)
        author.site = URL(string: "https://example.org/astrid")
        author.royalty = NSDecimalNumber(string: "12.5")

        let book = Book(context: context)
        book.title = "Ronja"
        author.addToBooks(book)
        try check(book.author === author, "the inverse is set")
        let edition = SpecialEdition(context: context)
        edition.title = "Emil"
        edition.copies = 2.5
        author.addToBooks(NSSet(object: edition))
        try check(author.books?.count == 2, "both books are the author's")

        let pages = (1...4).map { number in
            let page = Page(context: context)
            page.number = Int64(number)
            return page
        }
        book.addToPages(NSOrderedSet(array: [pages[0], pages[2]]))
        book.insertIntoPages(pages[1], at: 1)
        book.replacePages(at: 2, with: pages[3])
        try check(pageNumbers(book) == [1, 2, 4], "pages are where they were put")
        book.insertIntoPages([pages[2]], at: NSIndexSet(index: 2))
        book.removeFromPages(at: 0)
        try check(pageNumbers(book) == [2, 3, 4], "pages are inserted and removed by position")
        context.delete(pages[0])

        let shelf = Shelf(context: context)
        shelf.label = "A"
        shelf.addToBooks(book)
        shelf.addToBooks(NSSet(array: [edition]))
        shelf.removeFromBooks(edition)

        guard let reader = Reader(managedObjectContext: context) else { throw CheckFailure(description: "no reader") }
        reader.name = "Tage"
        reader.level = 3
        reader.budget = NSDecimalNumber(string: "0.10")
        let loan = Loan(context: context)
        loan.title = "Lend"
        loan.begins = Date(timeIntervalSinceReferenceDate: 86_400)
        loan.status = .returned
        loan.password = "hush"
        loan.note = "soon"
        loan.visit()
        loan.visit()
        reader.addLoansObject(loan)
        try check(loan.reader === reader, "the reader has the loan")
        loan.quietTitle = "Quiet"
        try check(loan.title == "Quiet", "a primitive value is the property's")

        try context.save()
    }

    static func pageNumbers(_ book: Book) -> [Int64] {
        (book.pages?.array ?? []).compactMap { ($0 as? Page)?.number }
    }
}
