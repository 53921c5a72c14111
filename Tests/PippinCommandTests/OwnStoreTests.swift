import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Stores that we make")
struct OwnStoreTests {
    private static let source = """
        <model userDefinedModelVersionIdentifier="7">
            <entity name="Thing" isAbstract="YES"><attribute name="id" attributeType="UUID"/></entity>
            <entity name="Book" parentEntity="Thing">
                <attribute name="title" attributeType="String"/>
                <attribute name="pages" optional="YES" attributeType="Integer 32"/>
                <attribute name="weight" optional="YES" attributeType="Double"/>
                <attribute name="price" optional="YES" attributeType="Decimal"/>
                <attribute name="isRead" attributeType="Boolean" defaultValueString="NO"/>
                <attribute name="published" optional="YES" attributeType="Date"/>
                <attribute name="cover" optional="YES" attributeType="Binary"/>
                <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="site" optional="YES" attributeType="URI"/>
                <attribute name="tags" optional="YES" attributeType="Transformable"/>
                <attribute name="size" optional="YES" attributeType="Composite">
                    <attribute name="width" optional="YES" attributeType="Double"/>
                    <attribute name="unit" optional="YES" attributeType="String"/>
                </attribute>
                <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/>
                <relationship name="sequels" optional="YES" toMany="YES" ordered="YES" destinationEntity="Book"
                    inverseName="prequel"/>
                <relationship name="prequel" optional="YES" maxCount="1" destinationEntity="Book" inverseName="sequels"/>
            </entity>
            <entity name="Author" parentEntity="Thing">
                <attribute name="name" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
            </entity>
        </model>
        """

    /// Large enough to lie in a file of its own beside the store.
    private static let photo = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    /// Saves an author with two books, and gives the store to the test.
    private func withStore(_ body: (URL) throws -> Void) throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("books.sqlite")
            let model = try ModelAssembler.model(SourceReader.document(of: Data(Self.source.utf8)))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                author.setValue("Jane \"Austen\"", forKey: "name")
                author.setValue(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), forKey: "id")
                let emma = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                emma.setValue(UUID(), forKey: "id")
                emma.setValue("Emma", forKey: "title")
                emma.setValue(474, forKey: "pages")
                emma.setValue(0.5, forKey: "weight")
                emma.setValue(NSDecimalNumber(string: "12.50"), forKey: "price")
                emma.setValue(true, forKey: "isRead")
                emma.setValue(Date(timeIntervalSinceReferenceDate: 0.25), forKey: "published")
                emma.setValue(Data([1, 2, 3]), forKey: "cover")
                emma.setValue(Self.photo, forKey: "photo")
                emma.setValue(URL(string: "https://swift.org/a"), forKey: "site")
                emma.setValue(["width": 1.5, "unit": "cm"] as [String: Any], forKey: "size")
                emma.setValue(author, forKey: "author")
                let sequel = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                sequel.setValue(UUID(), forKey: "id")
                sequel.setValue("Emma 2", forKey: "title")
                sequel.setValue(emma, forKey: "prequel")
                try context.save()
            }
            // Still open: what was saved may be in the log only.
            try body(url)
        }
    }

    @Test("dump --json has every kind of value")
    func json() throws {
        try withStore { url in
            let objects = try CommandRun("dump", "--json", url.path).objects()
            #expect(objects["Thing"]?.count == 0)
            let author = try #require(objects["Author"]?.first)
            #expect(author["name"] as? String == "Jane \"Austen\"")
            #expect(author["id"] as? String == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            let books = try #require(objects["Book"])
            let emma = try #require(books.first { $0["title"] as? String == "Emma" })
            #expect(author["books"] as? [String] == [emma["objectID"] as? String ?? ""])
            #expect(emma["author"] as? String == author["objectID"] as? String)
            #expect(emma["pages"] as? Int == 474)
            #expect(emma["weight"] as? Double == 0.5)
            #expect(emma["price"] as? Double == 12.5)
            #expect(emma["isRead"] as? Bool == true)
            #expect(emma["published"] as? String == "2001-01-01T00:00:00.250Z")
            #expect(emma["cover"] as? String == "AQID")
            let photo = (emma["photo"] as? String).flatMap { Data(base64Encoded: $0) }
            #expect(photo == Self.photo)
            #expect(emma["site"] as? String == "https://swift.org/a")
            #expect(emma["tags"] is NSNull)
            let size = emma["size"] as? [String: Any]
            #expect(size?["width"] as? Double == 1.5)
            #expect(size?["unit"] as? String == "cm")
            let sequel = try #require(books.first { $0["title"] as? String == "Emma 2" })
            #expect(sequel["prequel"] as? String == emma["objectID"] as? String)
            #expect(emma["sequels"] as? [String] == [sequel["objectID"] as? String ?? ""])
            #expect(sequel["author"] is NSNull)
        }
    }

    @Test("info and dump show it to a person")
    func text() throws {
        try withStore { url in
            let info = CommandRun("info", url.path).output
            #expect(
                info.contains(
                    "  model           the copy that the store keeps, version “7”\n  written by      Pippin\n"))
            #expect(info.contains("  Book : Thing   2 objects\n"))
            #expect(info.contains("Thing   abstract, 3 objects of subentities\n"))
            let dump = CommandRun("dump", url.path, "--entity", "Author").output
            #expect(dump.contains("    name    \"Jane \\\"Austen\\\"\"\n"))
            #expect(dump.contains("    books   → Book/p"))
        }
    }
}
