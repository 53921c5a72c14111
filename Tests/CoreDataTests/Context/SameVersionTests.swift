import CoreData
import Testing

@Suite("An object that a merge policy inserts again")
struct SameVersionTests {
    @Test("is not taken for the one that was deleted")
    func version() throws {
        let container = try Library.inMemory()
        let (one, two, three) = (
            container.newBackgroundContext(), container.newBackgroundContext(), container.newBackgroundContext()
        )
        try one.performAndWait {
            one.make("Book", ["title": "T", "price": 1])
            try one.save()
        }
        let (mine, theirs) = try (
            #require(two.performAndWait { try two.all("Book").first }),
            #require(three.performAndWait { try three.all("Book").first })
        )
        two.performAndWait { #expect(mine.string("title") == "T") }
        three.performAndWait { #expect(theirs.string("title") == "T") }
        try one.performAndWait {
            for book in try one.all("Book") { one.delete(book) }
            try one.save()
        }
        two.mergePolicy = NSMergePolicy.overwrite
        try two.performAndWait {
            mine.setValue(2, forKey: "price")
            try two.save()
        }
        three.performAndWait {
            theirs.setValue("X", forKey: "title")
            #expect(throws: (any Error).self) { try three.save() }
        }
    }
}
