import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine

/// A store with values that are kept in files.
struct PhotoStore {
    let folder = try! TestFolder()  // A folder that cannot be made ends the test.
    var url: URL { folder.store }
    var files: URL { folder.url.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA") }
    static let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    static func model() -> NSManagedObjectModel {
        let photo = makeAttribute("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        photo.isOptional = false
        let drawing = makeAttribute("drawing", .transformableAttributeType)
        drawing.allowsExternalBinaryDataStorage = true
        return makeModel(makeEntity("Picture", makeAttribute("title", .stringAttributeType), photo, drawing))
    }

    func context(_ model: NSManagedObjectModel = model()) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Saves a picture.
    ///
    /// - Returns: the name of its file.
    @discardableResult
    func make(_ title: String = "Sea", drawing: Any? = nil) throws -> String {
        let before = try names()
        let context = try context()
        try context.performAndWait {
            let picture = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
            picture.setValue(title, forKey: "title")
            picture.setValue(Self.bytes, forKey: "photo")
            picture.setValue(drawing, forKey: "drawing")
            try context.save()
        }
        return try #require(try names().subtracting(before).first)
    }

    func names() throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: files.path) else { return [] }
        return Set(try FileManager.default.contentsOfDirectory(atPath: files.path))
    }

    func file(_ name: String) -> URL { files.appendingPathComponent(name) }

    /// Hands out the only picture, in a context of its own.
    func withPicture<Result>(
        _ body: (NSManagedObject, NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = try context()
        return try context.performAndWait {
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Picture"))
            return try body(try #require(found.first), context)
        }
    }
}

@Suite("External data whose file is missing")
struct MissingExternalDataTests {
    private let store = PhotoStore()

    @Test("A property shows no value, and the object tells which file is missing")
    func objects() throws {
        let name = try store.make()
        try FileManager.default.removeItem(at: store.file(name))
        try store.withPicture { picture, _ in
            #expect(picture.value(forKey: "photo") == nil)
            #expect(picture.value(forKey: "title") as? String == "Sea")
            #expect(picture.missingExternalData.mapValues(\.lastPathComponent) == ["photo": name])
        }
    }

    @Test("A save of other properties leaves what the row says of the value, which is there again with its file")
    func saving() throws {
        let name = try store.make()
        let away = store.folder.url.appendingPathComponent("away")
        try FileManager.default.moveItem(at: store.file(name), to: away)
        try store.withPicture { picture, context in
            picture.setValue("Lake", forKey: "title")
            // The value is mandatory, and is there, though it cannot be read.
            try context.save()
        }
        #expect(
            try plainSQL("SELECT ZTITLE, substr(ZPHOTO, 2, 36) FROM ZPICTURE", in: store.url).first?.hasPrefix("Lake|")
                == true)
        try FileManager.default.moveItem(at: away, to: store.file(name))
        try store.withPicture { picture, _ in
            #expect(picture.value(forKey: "photo") as? Data == PhotoStore.bytes)
            #expect(picture.missingExternalData.isEmpty)
        }
    }

    @Test("Another value takes its place")
    func replacing() throws {
        try FileManager.default.removeItem(at: store.file(try store.make()))
        try store.withPicture { picture, context in
            picture.setValue(Data([1, 2]), forKey: "photo")
            try context.save()
        }
        #expect(try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: store.url) == ["010102"])
    }

    @Test("A child context that changes the object leaves the value, too")
    func children() throws {
        try FileManager.default.removeItem(at: store.file(try store.make()))
        let before = try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: store.url)
        try store.withPicture { picture, context in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            let identifier = picture.objectID
            try child.performAndWait {
                child.object(with: identifier).setValue("Pond", forKey: "title")
                try child.save()
            }
            try context.save()
        }
        #expect(try plainSQL("SELECT ZTITLE FROM ZPICTURE", in: store.url) == ["Pond"])
        #expect(try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: store.url) == before)
    }

    @Test("A fetch of dictionaries that asks for it throws, and names property and file")
    func dictionaries() throws {
        let name = try store.make()
        try FileManager.default.removeItem(at: store.file(name))
        let context = try store.context()
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Picture")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title"]
            #expect(try context.fetch(request).count == 1)
            request.propertiesToFetch = ["title", "photo"]
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            #expect(error?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
            #expect(error?.localizedDescription.contains("photo") == true)
            #expect(error?.localizedDescription.contains(name) == true)
        }
    }

    @Test("Copies of the store keep it; a document, which has the values themselves, is refused")
    func copies() throws {
        try FileManager.default.removeItem(at: store.file(try store.make()))
        let before = try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: store.url)
        let copy = store.folder.url.appendingPathComponent("copy.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
        try coordinator.replacePersistentStore(
            at: copy, destinationOptions: nil, withPersistentStoreFrom: store.url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        #expect(try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: copy) == before)
        let old = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store.url)
        let document = store.folder.url.appendingPathComponent("copy.xml")
        #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(old, to: document, withType: NSXMLStoreType)
        }
        let moved = store.folder.url.appendingPathComponent("moved.sqlite")
        try coordinator.migratePersistentStore(old, to: moved, withType: NSSQLiteStoreType)
        #expect(try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: moved) == before)
    }

    @Test("A migration keeps it, in place and object by object", arguments: [true, false])
    func migrations(isInPlace: Bool) throws {
        try FileManager.default.removeItem(at: store.file(try store.make()))
        let before = try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: store.url)
        let model = PhotoStore.model()
        let new = PhotoStore.model()
        new.entitiesByName["Picture"]?.properties.append(makeAttribute("place", .stringAttributeType))
        let mapping =
            isInPlace ? nil : try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: new)
        let migration = try StoreMigration(at: store.url, to: new, mapping: mapping)
        try migration.run()
        #expect(try plainSQL("SELECT ZPHOTO FROM ZPICTURE", in: store.url) == before)
        #expect(try plainSQL("SELECT ZPLACE FROM ZPICTURE", in: store.url) == [""])
    }

    @Test("A transformable value is kept by a mapped migration, too")
    func transformables() throws {
        let drawing = ["lines": String(repeating: "line ", count: 50_000)] as NSDictionary
        try store.make(drawing: drawing)
        for name in try store.names() { try FileManager.default.removeItem(at: store.file(name)) }
        let before = try plainSQL("SELECT ZDRAWING FROM ZPICTURE", in: store.url)
        #expect(before.first?.hasPrefix("02") == true)
        let new = PhotoStore.model()
        new.entitiesByName["Picture"]?.properties.append(makeAttribute("place", .stringAttributeType))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: PhotoStore.model(), destinationModel: new)
        try StoreMigration(at: store.url, to: new, mapping: mapping).run()
        #expect(try plainSQL("SELECT ZDRAWING FROM ZPICTURE", in: store.url) == before)
    }
}

@Suite("Only regular files in the folder are external data")
struct ExternalDataPathTests {
    private let store = PhotoStore()

    private func photo() throws -> Data? {
        try store.withPicture { picture, _ in picture.value(forKey: "photo") as? Data }
    }

    private func reason() throws -> String? {
        let context = try store.context()
        return context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Picture")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["photo"]
            return #expect(throws: NSError.self) { try context.fetch(request) }?.localizedDescription
        }
    }

    @Test("A symbolic link under the file's name is not followed")
    func links() throws {
        let name = try store.make()
        try FileManager.default.removeItem(at: store.file(name))
        let secret = store.folder.url.appendingPathComponent("secret")
        try Data("secret".utf8).write(to: secret)
        try FileManager.default.createSymbolicLink(at: store.file(name), withDestinationURL: secret)
        #expect(try photo() == nil)
        #expect(try reason()?.contains("symbolic link") == true)
    }

    @Test("A pipe is not waited for, and a folder is not a value")
    func pipes() throws {
        let name = try store.make()
        try FileManager.default.removeItem(at: store.file(name))
        #expect(mkfifo(store.file(name).path, 0o600) == 0)
        #expect(try photo() == nil)
        unlink(store.file(name).path)
        #expect(mkdir(store.file(name).path, 0o700) == 0)
        #expect(try photo() == nil)
    }

    @Test("A name with a path in it leads nowhere")
    func paths() throws {
        try store.make()
        let secret = store.folder.url.appendingPathComponent("secret")
        try Data("secret".utf8).write(to: secret)
        let name = "../../secret"
        try changeStore(store.url, "UPDATE ZPICTURE SET ZPHOTO = X'02' || CAST('\(name)' AS BLOB) || X'00'")
        #expect(try photo() != Data("secret".utf8))
    }

    @Test("A folder that is a symbolic link is neither read nor written nor swept", arguments: [true, false])
    func folders(isOuter: Bool) throws {
        let name = try store.make()
        let folder = isOuter ? store.files.deletingLastPathComponent() : store.files
        let elsewhere = store.folder.url.appendingPathComponent("elsewhere")
        try FileManager.default.moveItem(at: folder, to: elsewhere)
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: elsewhere)
        #expect(try photo() == nil)
        let error = #expect(throws: NSError.self) { try store.make("Lake") }
        #expect(error?.localizedDescription.contains("symbolic link") == true)
        let inner = isOuter ? elsewhere.appendingPathComponent("_EXTERNAL_DATA") : elsewhere
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner.path) == [name])
    }
}

/// Runs SQL on a store.
func changeStore(_ url: URL, _ sql: String) throws {
    try StoreFile.open(url, mode: .readWrite).connection.execute(sql)
}
