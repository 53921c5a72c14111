import CoreData
import TestSupport
import Testing

/// XML and binary stores: one file each, read and written as a whole.
@Suite("XML and binary stores") struct DocumentStoreTests {
    static let types = [NSXMLStoreType, NSBinaryStoreType]
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    func open(
        _ type: String, _ model: NSManagedObjectModel = Library.model(), options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("library"), options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func saveLibrary(_ type: String) throws {
        let context = try open(type)
        try context.performAndWait {
            let ada = context.make(
                "Author",
                [
                    "name": "Ada <& Lovelace>\r\n\u{1F469}", "age": 36, "rating": 0.1, "isLiving": false,
                    "born": Date(timeIntervalSinceReferenceDate: -5.25e9 + 0.1),
                    "token": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), "photo": Data([0, 1, 255]),
                    "wealth": NSDecimalNumber(string: "12345678901234567890.5"),
                    "homepage": URL(string: "https://ada.example/a?b=c"),
                    "nickname": "transient",
                ])
            let notes = context.make("Book", ["title": "Notes", "author": ada])
            let comic = context.make("Comic", ["title": "Engine", "artist": "Sydney", "author": ada])
            let tag = context.make("Tag", ["name": "maths"])
            notes.setValue(Set([tag]), forKey: "tags")
            comic.setValue(Set([tag]), forKey: "tags")
            let chapters = ["C", "A", "B"].map { context.make("Chapter", ["title": $0]) }
            notes.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
            try context.save()
        }
    }

    @Test("All types of attributes come back from the file", arguments: types) func attributes(type: String) throws {
        try saveLibrary(type)
        let context = try open(type)
        try context.performAndWait {
            let ada = try #require(context.all("Author").first)
            #expect(ada.string("name") == "Ada <& Lovelace>\r\n\u{1F469}")
            #expect(ada.value(forKey: "age") as? Int == 36)
            #expect(ada.value(forKey: "rating") as? Double == 0.1)
            #expect(ada.value(forKey: "isLiving") as? Bool == false)
            #expect(ada.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: -5.25e9 + 0.1))
            #expect((ada.value(forKey: "token") as? UUID)?.uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
            #expect(ada.value(forKey: "photo") as? Data == Data([0, 1, 255]))
            #expect((ada.value(forKey: "wealth") as? NSDecimalNumber)?.stringValue == "12345678901234567890.5")
            #expect((ada.value(forKey: "homepage") as? URL)?.absoluteString == "https://ada.example/a?b=c")
            #expect(ada.value(forKey: "nickname") == nil)
        }
    }

    @Test("All kinds of relationships come back from the file", arguments: types)
    func relationships(type: String) throws {
        try saveLibrary(type)
        let context = try open(type)
        try context.performAndWait {
            let tag = try #require(context.all("Tag").first)
            #expect(Set(tag.objects("books").compactMap { $0.string("title") }) == ["Notes", "Engine"])
            let notes = try #require(context.all("Book", NSPredicate(format: "title == 'Notes'")).first)
            let chapters = notes.value(forKey: "chapters") as? NSOrderedSet
            #expect(chapters?.compactMap { ($0 as? NSManagedObject)?.string("title") } == ["C", "A", "B"])
            let comics = try context.all("Book", NSPredicate(format: "author.age > 30"), by: "title")
            #expect(comics.map { $0.entity.name } == ["Comic", "Book"])
        }
    }

    @Test("A file of more than ten million bytes comes back", arguments: types) func largeFile(type: String) throws {
        let name = String(repeating: "A long name. ", count: 900_000)
        let context = try open(type)
        try context.performAndWait {
            context.make("Author", ["name": name])
            try context.save()
        }
        let again = try open(type)
        let areSame = try again.performAndWait { try again.all("Author").map { $0.string("name") == name } }
        #expect(areSame == [true])
    }

    @Test("IDs are the same when the store is opened again, and new objects get new ones", arguments: types)
    func identifiers(type: String) throws {
        try saveLibrary(type)
        let first = try open(type)
        let uri = try first.performAndWait {
            try first.all("Tag").first?.objectID.uriRepresentation()
        }
        let second = try open(type)
        try second.performAndWait {
            let known = Set(try second.all("Book").map { $0.objectID.uriRepresentation() })
            let tag = try #require(second.all("Tag").first)
            #expect(tag.objectID.uriRepresentation() == uri)
            let new = second.make("Book", ["title": "New"])
            try second.save()
            #expect(!known.contains(new.objectID.uriRepresentation()))
        }
    }

    @Test("An XML store reads as Core Data writes it") func xmlText() throws {
        let context = try open(NSXMLStoreType)
        try context.performAndWait {
            let author = context.make("Author", ["name": "Ada", "born": Date(timeIntervalSinceReferenceDate: 0.5)])
            try context.save()
            context.make("Book", ["title": "Notes", "author": author])
            try context.save()
        }
        let text = try String(contentsOf: folder.file("library"), encoding: .utf8)
        let objects = try #require(text.range(of: "    <object")).lowerBound
        #expect(
            String(text[objects...]) == """
                    <object type="AUTHOR" id="z102">
                        <attribute name="name" type="string">Ada</attribute>
                        <attribute name="rating" type="double">1.5</attribute>
                        <attribute name="isliving" type="bool">1</attribute>
                        <attribute name="born" type="date">0.50000000000000000000</attribute>
                        <relationship name="books" type="0/0" destination="BOOK" idrefs="z103"></relationship>
                    </object>
                    <object type="BOOK" id="z103">
                        <attribute name="title" type="string">Notes</attribute>
                        <relationship name="author" type="0/1" destination="AUTHOR" idrefs="z102"></relationship>
                        <relationship name="tags" type="0/0" destination="TAG"></relationship>
                        <relationship name="chapters" type="0/0" destination="CHAPTER"></relationship>
                        <relationship name="shelf" type="0/1" destination="SHELF"></relationship>
                    </object>
                </database>

                """)
        #expect(text.contains("<nextObjectID>103</nextObjectID>"))
        #expect(text.contains("<key>NSStoreModelVersionHashes</key>"))
    }

    @Test("Metadata are read and written without opening the store", arguments: types)
    func metadata(type: String) throws {
        try saveLibrary(type)
        let url = folder.file("library")
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == type)
        metadata["colour"] = "green"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: type, at: url)
        let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: url)
        #expect(found["colour"] as? String == "green")
        #expect(found[NSStoreUUIDKey] as? String == metadata[NSStoreUUIDKey] as? String)
        let context = try open(type)
        try context.performAndWait {
            let count = try context.all("Author").count
            #expect(count == 1)
        }
    }

    @Test("A store of another version of the model is not opened", arguments: types) func version(type: String) throws {
        try saveLibrary(type)
        let other = Library.model()
        other.entitiesByName["Author"]?.versionHashModifier = "2"
        let error = #expect(throws: CocoaError.self) { try open(type, other) }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    }

    @Test("A read-only store is not written", arguments: types) func readOnly(type: String) throws {
        try saveLibrary(type)
        let context = try open(type, options: [NSReadOnlyPersistentStoreOption: true])
        context.performAndWait {
            context.make("Tag", ["name": "new"])
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    @Test("What somebody else wrote since is not overwritten", arguments: types) func overwriting(type: String) throws {
        try saveLibrary(type)
        let first = try open(type)
        let second = try open(type)
        try first.performAndWait {
            first.make("Tag", ["name": "a tag with a longer name than before"])
            try first.save()
        }
        second.performAndWait {
            second.make("Tag", ["name": "b"])
            let error = #expect(throws: CocoaError.self) { try second.save() }
            #expect(error?.code == .persistentStoreSave)
            #expect(second.insertedObjects.count == 1)
        }
    }

    @Test("A control character, which XML cannot hold, is refused and nothing is written") func controlCharacter()
        throws
    {
        try saveLibrary(NSXMLStoreType)
        let before = try Data(contentsOf: folder.file("library"))
        let context = try open(NSXMLStoreType)
        try context.performAndWait {
            context.make("Tag", ["name": "bell \u{7}"])
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .persistentStoreSave)
            let message = error?.localizedDescription ?? ""
            #expect(message.contains("“name” of object") && message.contains("U+0007"))
            let after = try Data(contentsOf: folder.file("library"))
            #expect(after == before)
        }
    }

    @Test(
        "A damaged XML store is refused with the reason",
        arguments: [
            ("<?xml version=\"1.0\"?><plist/>", "not <database>"),
            ("<database><object type=\"TAG\" id=\"102\"></object></database>", "no id like z102"),
            ("<database><object type=\"TAG\" id=\"z1\"/><object type=\"TAG\" id=\"z1\"/></database>", "two objects 1"),
            (
                "<database><object type=\"TAG\" id=\"z1\"><relationship name=\"books\" idrefs=\"z1\"/></object></database>",
                "leads to object 1"
            ),
            (
                "<database><object type=\"AUTHOR\" id=\"z1\"><attribute name=\"age\">x</attribute></object></database>",
                "int16"
            ),
            ("<!DOCTYPE d [<!ENTITY a \"b\">]><database>&a;</database>", "<!ENTITY"),
            ("<!DOCTYPE d [<!ATTLIST d b CDATA #IMPLIED>]><database/>", "<!ATTLIST"),
            ("<?xml version=\"1.0\"?><?x?><database/>", "processing instruction"),
            ("<database>", "not well formed"),
        ])
    func damagedXML(text: String, reason: String) throws {
        try Data(text.utf8).write(to: folder.file("library"))
        let error = #expect(throws: CocoaError.self) { try open(NSXMLStoreType) }
        #expect(error?.code == .fileReadCorruptFile)
        #expect(error?.localizedDescription.contains(reason) == true, "\(error?.localizedDescription ?? "")")
    }

    @Test(
        "An XML store without version hashes does not fit a model that lacks what it has",
        arguments: [
            ("<object type=\"DRAGON\" id=\"z1\"></object>", "“DRAGON”"),
            ("<object type=\"TAG\" id=\"z1\"><attribute name=\"wings\">2</attribute></object>", "“wings”"),
        ])
    func misfit(object: String, reason: String) throws {
        try Data("<database>\(object)</database>".utf8).write(to: folder.file("library"))
        let error = #expect(throws: CocoaError.self) { try open(NSXMLStoreType) }
        #expect(error?.code == .persistentStoreIncompatibleVersionHash)
        #expect(error?.localizedDescription.contains(reason) == true, "\(error?.localizedDescription ?? "")")
    }

    @Test("A file that is not a binary store is refused") func damagedBinary() throws {
        for data in [Data("bplist00".utf8), Data("<?xml".utf8)] {
            try data.write(to: folder.file("library"))
            let error = #expect(throws: CocoaError.self) { try open(NSBinaryStoreType) }
            #expect(error?.code == .fileReadCorruptFile)
        }
    }

    @Test("An XML store whose file names no UUID has the same one each time, and keeps it when it is saved")
    func withoutUUID() throws {
        try saveLibrary(NSXMLStoreType)
        let file = folder.file("library")
        var text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "<databaseInfo>")).lowerBound
        text.removeSubrange(start..<(try #require(text.range(of: "</databaseInfo>")).upperBound))
        try Data(text.utf8).write(to: file)
        func uuid() throws -> String? {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSXMLStoreType, at: file)
            return metadata[NSStoreUUIDKey] as? String
        }
        let first = try #require(try uuid())
        #expect(UUID(uuidString: first) != nil)
        #expect(try uuid() == first)
        let context = try open(NSXMLStoreType)
        #expect(context.persistentStoreCoordinator?.persistentStores.first?.identifier == first)
        try context.performAndWait {
            context.make("Tag", ["name": "history"])
            try context.save()
        }
        #expect(try uuid() == first)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("<UUID>\(first)</UUID>"))
    }
}
