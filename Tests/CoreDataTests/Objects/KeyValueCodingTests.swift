import CoreData
import Testing

@MainActor @Suite("Values of a managed object, by key")
struct KeyValueCodingTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws { container = try Library.inMemory() }

    @Test("A new object has the model's default values")
    func defaults() {
        let author = context.make("Author")
        #expect(author.value(forKey: "rating") as? Double == 1.5)
        #expect(author.value(forKey: "isLiving") as? Bool == true)
        #expect(author.value(forKey: "name") == nil)
    }

    @Test("Numbers come as NSNumber, which casts to every number type")
    func numbers() {
        let author = context.make("Author", ["age": 42])
        #expect(author.value(forKey: "age") is NSNumber)
        #expect(author.value(forKey: "age") as? Int == 42)
        #expect(author.value(forKey: "age") as? Int16 == 42)
    }

    @Test("Every attribute type gives back what was set")
    func roundTrip() throws {
        let date = Date(timeIntervalSinceReferenceDate: 12345.5)
        let token = UUID()
        let url = try #require(URL(string: "https://example.org/a?b=c"))
        let values: [String: Any?] = [
            "name": "Ursula", "born": date, "token": token, "photo": Data([1, 2, 3]),
            "wealth": Decimal(string: "12.34"), "homepage": url,
        ]
        let author = context.make("Author", values)
        #expect(author.value(forKey: "name") as? String == "Ursula")
        #expect(author.value(forKey: "born") as? Date == date)
        #expect(author.value(forKey: "token") as? UUID == token)
        #expect(author.value(forKey: "photo") as? Data == Data([1, 2, 3]))
        #expect(author.value(forKey: "wealth") as? NSDecimalNumber == NSDecimalNumber(string: "12.34"))
        #expect(author.value(forKey: "homepage") as? URL == url)
    }

    @Test("A value of a wrong type is kept, and the save refuses it with entity, key and types")
    func wrongType() throws {
        let author = context.make("Author", ["name": "A", "age": "not a number"])
        #expect(author.value(forKey: "age") as? String == "not a number")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == 1550)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "age")
        #expect(error?.localizedDescription.contains("“Author.age”") == true)
    }

    @Test("A key path goes through relationships, and collects through to-many ones")
    func keyPaths() {
        let author = context.make("Author", ["name": "A"])
        let first = context.make("Book", ["title": "1", "author": author])
        context.make("Book", ["title": "2", "author": author])
        #expect(first.value(forKeyPath: "author.name") as? String == "A")
        #expect(author.value(forKeyPath: "books.title") as? Set<String> == ["1", "2"])
        #expect(author.value(forKeyPath: "books.@count") as? Int == 2)
    }
}
