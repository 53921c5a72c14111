import CodeGeneration
import CoreData
import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreDataModel

/// Core Data compares version hashes only. A copy of the model that somebody has left behind does no harm there.
@Suite("A copy of the model that is of another version than the store")
struct LeftModelCopyTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let title = ("title", NSAttributeType.stringAttributeType)
    private static let pages = ("pages", NSAttributeType.integer16AttributeType)
    private static let isbn = ("isbn", NSAttributeType.stringAttributeType)

    private static func model(
        _ attributes: [(String, NSAttributeType)], others: [String] = []
    ) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities =
            [Library.entity("Book", attributes.map { Library.attribute($0.0, $0.1) })]
            + others.map { Library.entity($0, [Library.attribute("code", .stringAttributeType)]) }
        return model
    }

    /// Makes a store of a version with one book, version hashes like Apple's, and copies of other versions.
    private func makeStore(_ model: NSManagedObjectModel, copies: [NSManagedObjectModel]) throws {
        let context = try Library.stored(at: folder.store, model).newBackgroundContext()
        try context.performAndWait {
            context.make("Book", ["title": "Emma", "pages": 474])
            try context.save()
        }
        let hashes = model.entitiesByName.mapValues { Data($0.ownVersionHash.reversed()) }
        let metadata: [String: Any] = [
            "NSPersistenceFrameworkVersion": 1044, "NSStoreModelVersionHashesVersion": 3, "NSStoreType": "SQLite",
            "NSStoreModelVersionHashes": hashes,
        ]
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        func literal(_ data: Data) -> String { "X'\(data.map { String(format: "%02X", $0) }.joined())'" }
        try execute("UPDATE Z_METADATA SET Z_PLIST = \(literal(list)); DELETE FROM Z_MODELCACHE", in: folder.store)
        for copy in copies {
            let bytes = literal(try ModelCache.modelCacheData(for: copy))
            try execute("INSERT INTO Z_MODELCACHE VALUES (\(bytes))", in: folder.store)
        }
    }

    private func open(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = [:]
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static func left() -> [NSManagedObjectModel] {
        [model([title]), model([title, pages, isbn]), model([title, ("pages", .stringAttributeType)])]
    }

    @Test("does not keep the model from it whose tables the store has", arguments: [0, 1, 2])
    func opens(number: Int) throws {
        let model = Self.model([Self.title, Self.pages])
        try makeStore(model, copies: [Self.left()[number]])
        let context = try open(model)
        #expect(try context.performAndWait { try context.all("Book").first?.value(forKey: "pages") as? Int } == 474)
    }

    @Test("does not let a model in whose tables the store does not have")
    func refused() throws {
        try makeStore(Self.model([Self.title, Self.pages]), copies: [Self.model([Self.title])])
        let error = #expect(throws: NSError.self) { try open(Self.model([Self.title, Self.pages, Self.isbn])) }
        #expect(error?.code == 134100)
    }

    @Test("is no copy if it lacks an entity that the metadata name")
    func lacksEntity() throws {
        let model = Self.model([Self.title, Self.pages], others: ["Shelf"])
        try makeStore(model, copies: [Self.model([Self.title, Self.pages])])
        let context = try open(model)
        #expect(try context.performAndWait { try context.all("Shelf").count } == 0)
    }

    @Test("is passed over where another copy is of the store's version", arguments: [true, false])
    func several(isFirst: Bool) throws {
        let model = Self.model([Self.title, Self.pages])
        let other = Self.model([Self.title])
        try makeStore(model, copies: isFirst ? [other, model] : [model, other])
        let context = try open(model)
        #expect(try context.performAndWait { try context.all("Book").count } == 1)
        #expect(throws: NSError.self) { try open(other) }
    }

    @Test("is not what a migration starts from, where the model's package has the version with the store's tables")
    func migrates() throws {
        let second = Self.model([Self.title, Self.pages])
        let third = Self.model([Self.title, Self.pages, Self.isbn])
        try makeStore(second, copies: [Self.model([Self.title])])
        let package = folder.file("Library.xcdatamodeld")
        for (name, model) in [("Library", Self.model([Self.title])), ("Library 2", second), ("Library 3", third)] {
            let version = package.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try SourceWriter.contents(of: ModelDocument(model)).write(
                to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let context = try open(
            try ModelPackage(at: package).model(version: "Library 3"),
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        #expect(try context.performAndWait { try context.all("Book").first?.value(forKey: "pages") as? Int } == 474)
        #expect(try plainSQL("SELECT COUNT(*) FROM Z_MODELCACHE", in: folder.store) == ["1"])
    }
}
