import CoreData
import Foundation
import Testing

final class NumberedAuthor: NSManagedObject {
    override func awakeFromInsert() {
        super.awakeFromInsert()
        setValue(41, forKey: "age")
    }
}

final class MarkedAuthor: NSManagedObject {
    var mark: String?
}

@Suite("An object that a batch insertion hands out")
struct BatchObjectTests {
    private func store(_ type: NSManagedObject.Type) throws -> BatchStore {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = String(reflecting: type)
        return try BatchStore(model)
    }

    @Test("stays as it is where the handler keeps it")
    func kept() throws {
        let store = try store(NSManagedObject.self)
        var kept: [NSManagedObject] = []
        let request = NSBatchInsertRequest(entityName: "Author") { (author: NSManagedObject) in
            guard kept.count < 3 else { return true }
            author.setValue("author \(kept.count)", forKey: "name")
            kept.append(author)
            return false
        }
        _ = try store.execute(request)
        #expect(kept.map { $0.string("name") } == ["author 0", "author 1", "author 2"])
        #expect(try store.rows("SELECT ZNAME FROM ZAUTHOR ORDER BY Z_PK") == ["author 0", "author 1", "author 2"])
    }

    @Test("starts with its defaults and what its class does on insertion, each time")
    func awakes() throws {
        let store = try store(NumberedAuthor.self)
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Author") { (author: NSManagedObject) in
            number += 1
            author.setValue("author", forKey: "name")
            if number == 1 { author.setValue(7, forKey: "age") }
            if number == 2 { author.setValue(3.5, forKey: "rating") }
            return number == 4
        }
        _ = try store.execute(request)
        #expect(try store.rows("SELECT ZAGE, ZRATING FROM ZAUTHOR ORDER BY Z_PK") == ["7|1.5", "41|3.5", "41|1.5"])
    }

    @Test("is a new one each time where its class has properties of its own")
    func own() throws {
        let store = try store(MarkedAuthor.self)
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Author") { (author: NSManagedObject) in
            guard let author = author as? MarkedAuthor else { return true }
            author.setValue(author.mark ?? "unmarked", forKey: "name")
            author.mark = "marked"
            number += 1
            return number == 3
        }
        _ = try store.execute(request)
        #expect(try store.rows("SELECT ZNAME FROM ZAUTHOR") == ["unmarked", "unmarked"])
    }
}
