import CoreData
import Foundation
import SQLiteConnection
import TestSupport
import Testing

@Suite("Several attributes that take one large value by their renaming identifiers")
struct SharedFileTests {
    private let folder: TestFolder
    private static let photo = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws { folder = try TestFolder() }

    private static func model(_ attributes: [String: String]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Book",
                attributes.sorted { $0.key < $1.key }.map { name, identifier in
                    let attribute = Library.attribute(name, .binaryDataAttributeType)
                    attribute.allowsExternalBinaryDataStorage = true
                    attribute.renamingIdentifier = identifier
                    return attribute
                })
        ]
        return model
    }

    private static let old = model(["photo": "photo"])
    private static let versions = [
        "beside it": model(["photo": "photo", "thumbnail": "photo"]),
        "without it": model(["cover": "photo", "thumbnail": "photo"]),
    ]

    private func with(_ model: NSManagedObjectModel, _ work: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try work(context) }
        try coordinator.remove(store)
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(".store_SUPPORT/_EXTERNAL_DATA").path)
    }

    private func book(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.all("Book").first)
    }

    @Test("Each keeps its value when another gets a new one", arguments: ["beside it", "without it"])
    func migrated(version: String) throws {
        let new = try #require(Self.versions[version])
        let names = try #require(new.entitiesByName["Book"]).attributesByName.keys.sorted()
        try with(Self.old) { context in
            context.make("Book", ["photo": Self.photo])
            try context.save()
        }
        for name in names {
            try with(new) { context in
                let book = try book(context)
                for left in names where left >= name { #expect(book.value(forKey: left) as? Data == Self.photo) }
                book.setValue(Data([1]), forKey: name)
                try context.save()
            }
        }
        try with(new) { context in
            let book = try book(context)
            for name in names { #expect(book.value(forKey: name) as? Data == Data([1])) }
        }
        #expect(try files().isEmpty)
    }

    @Test(
        "Each keeps it where an earlier migration left them one file, which goes with the last",
        arguments: ["a save", "a batch update", "a deletion"])
    func shared(change: String) throws {
        let new = try #require(Self.versions["beside it"])
        try with(new) { context in
            context.make("Book", ["photo": Self.photo])
            try context.save()
        }
        try Connection(path: folder.store.path, mode: .readWrite).execute("UPDATE ZBOOK SET ZTHUMBNAIL = ZPHOTO")
        func update(_ name: String, _ context: NSManagedObjectContext) throws {
            if change == "a batch update" {
                let request = NSBatchUpdateRequest(entityName: "Book")
                request.propertiesToUpdate = [name: NSNull()]
                _ = try context.execute(request)
                return
            }
            try book(context).setValue(nil, forKey: name)
            try context.save()
        }
        if change != "a deletion" {
            try with(new) { try update("thumbnail", $0) }
            #expect(try files().count == 1)
            try with(new) { context in
                let book = try book(context)
                #expect(book.value(forKey: "photo") as? Data == Self.photo)
            }
        }
        try with(new) { context in
            guard change == "a deletion" else { return try update("photo", context) }
            context.delete(try book(context))
            try context.save()
        }
        #expect(try files().isEmpty)
    }
}
