import CoreData
import TestSupport
import Testing

@MainActor @Suite("A fetch with another argument")
struct ArgumentTests {
    @Test("finds by the new argument, though the statement is kept", arguments: ["price IN %@", "price BETWEEN %@"])
    func numbers(format: String) throws {
        let folder = try TestFolder()
        let context = try Library.stored(at: folder.file("library.sqlite")).viewContext
        for price in 1...9 { context.make("Book", ["price": Double(price)]) }
        try context.save()
        func prices(_ argument: [Double]) throws -> [Double] {
            try context.all("Book", NSPredicate(format: format, argument), by: "price")
                .compactMap { $0.value(forKey: "price") as? Double }
        }
        #expect(try prices([1, 2]) == [1, 2])
        #expect(try prices([4, 5]) == [4, 5])
    }

    @Test("finds by the new texts without regard to case")
    func texts() throws {
        let folder = try TestFolder()
        let context = try Library.stored(at: folder.file("library.sqlite")).viewContext
        for title in ["A", "b", "C"] { context.make("Book", ["title": title]) }
        try context.save()
        func titles(_ argument: [String]) throws -> [String] {
            try context.all("Book", NSPredicate(format: "title IN[c] %@", argument), by: "title").compactMap {
                $0.string("title")
            }
        }
        #expect(try titles(["a"]) == ["A"])
        #expect(try titles(["B"]) == ["b"])
    }
}
