import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Files beside a store, and waiting for it")
struct StoreFaultTests {
    private func pictures() throws -> BatchStore {
        let image = Library.attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        let picture = Library.entity("Picture", [Library.attribute("code", .stringAttributeType), image])
        picture.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [picture]
        return try BatchStore(model)
    }

    private func files(_ store: BatchStore) throws -> [String] {
        let folder = store.folder.file(".library_SUPPORT/_EXTERNAL_DATA").path
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    @Test("A save that needs a second attempt leaves no files of the first")
    func secondAttempt() throws {
        let store = try pictures()
        try store.save { context in
            context.make("Picture", ["code": "a"])
            context.make("Picture", ["code": "b"])
        }
        try store.context.performAndWait {
            // Trading unique values is refused by SQLite at first.
            let pictures = try store.context.all("Picture", by: "code")
            for (picture, code) in zip(pictures, ["b", "a"]) {
                picture.setValue(code, forKey: "code")
                picture.setValue(Data(count: 200_000), forKey: "image")
            }
            try store.context.save()
        }
        #expect(try store.rows("SELECT ZCODE FROM ZPICTURE ORDER BY Z_PK") == ["b", "a"])
        #expect(try files(store).count == 2)
    }

    @Test("A large value that was fetched can be read after another has taken its file away")
    func mapped() throws {
        let store = try pictures()
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try store.save { $0.make("Picture", ["code": "a", "image": content]) }
        let reader = store.container.newBackgroundContext()
        try reader.performAndWait {
            let picture = try #require(try reader.all("Picture").first)
            #expect(picture.string("code") == "a")
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Picture")
            _ = try store.execute(NSBatchDeleteRequest(fetchRequest: fetch))
            #expect(try files(store).isEmpty)
            #expect(picture.value(forKey: "image") as? Data == content)
        }
    }

    @Test("A store waits for a lock as long as a description says by default")
    func timeout() {
        let description = NSPersistentStoreDescription()
        #expect(StoreSettings(description.options).timeout == description.timeout)
        #expect(StoreSettings(nil).timeout == 240)
    }
}
