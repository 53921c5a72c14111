import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin
@testable import PippinRecords

private struct Photo: CoreModel, Equatable {
    let uid: String
    var title: String
    var image: Data?
}

/// A store that another program made: large images are in files beside it.
@Suite("Structs with values that are kept in files beside the store")
struct MissingFileTests {
    private let folder: TestFolder
    private let container: NSPersistentContainer
    private let large = Photo(uid: "large", title: "Sea", image: Data(repeating: 7, count: 300_000))
    private let small = Photo(uid: "small", title: "Hill", image: Data([1, 2]))
    private var store: URL { folder.file("photos.sqlite") }

    init() throws {
        folder = try TestFolder()
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        let image = attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        let photo = NSEntityDescription()
        photo.name = "Photo"
        photo.properties = [attribute("uid", .stringAttributeType), attribute("title", .stringAttributeType), image]
        photo.uniquenessConstraints = [["uid"]]
        let model = NSManagedObjectModel()
        model.entities = [photo]
        container = NSPersistentContainer(name: "Photos", managedObjectModel: model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: folder.file("photos.sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        let photos = [large, small]
        try context.performAndWait {
            for photo in photos {
                let record = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
                record.setValue(photo.uid, forKey: "uid")
                record.setValue(photo.title, forKey: "title")
                record.setValue(photo.image, forKey: "image")
            }
            try context.save()
        }
    }

    /// The file of the large image.
    private func file() throws -> URL {
        let files = try FileManager.default.contentsOfDirectory(
            at: folder.file(".photos_SUPPORT/_EXTERNAL_DATA"), includingPropertiesForKeys: nil)
        return try #require(files.count == 1 ? files.first : nil)
    }

    /// The models, read from the store's rows, or from objects of a context.
    private func read(_ uid: String, fromObjects: Bool) throws -> Photo? {
        let registry = try ModelRegistry([Photo.self])
        let reader = StructFetcher<Photo>(plan: try registry.plan(of: Photo.self), registry: registry)
        guard fromObjects else {
            return try reader.models(reader.selection(id: uid), StoreRows(container.persistentStoreCoordinator.session))
                .first
        }
        let context = container.newBackgroundContext()
        let rows = ObjectRows(
            ContextObjects(context, registry), StoreRows(container.persistentStoreCoordinator.session))
        return try context.performAndWait { try reader.models(reader.selection(id: uid), rows).first }
    }

    @Test("are read whole, from rows and from objects", arguments: [false, true])
    func whole(fromObjects: Bool) throws {
        #expect(try read("large", fromObjects: fromObjects) == large)
        #expect(try read("small", fromObjects: fromObjects) == small)
    }

    @Test(
        "cannot be read where the file is missing; the error names entity, property and file. The others can",
        arguments: [false, true])
    func missing(fromObjects: Bool) throws {
        let file = try file()
        try FileManager.default.moveItem(at: file, to: folder.file("elsewhere"))
        #expect {
            try read("large", fromObjects: fromObjects)
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .unreadable else { return false }
            return error.entity == "Photo" && error.property == "image" && "\(error)".contains(file.lastPathComponent)
        }
        #expect(try read("small", fromObjects: fromObjects) == small)
        try FileManager.default.moveItem(at: folder.file("elsewhere"), to: file)
        #expect(try read("large", fromObjects: fromObjects) == large)
    }

    @Test(
        "stop a program that keeps them in the store from opening it while the file is missing; then they are in the store"
    )
    func loading() async throws {
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        let file = try file()
        try FileManager.default.moveItem(at: file, to: folder.file("elsewhere"))
        let manager = PersistenceManager(models: [Photo.self], store: .file(store))
        let error = await #expect(throws: (any Error).self) { try await manager.load() }
        #expect("\(error.map { $0 as NSError as Any } ?? "")".contains(file.lastPathComponent))
        try FileManager.default.moveItem(at: folder.file("elsewhere"), to: file)
        try await manager.load()
        #expect(try await manager.find(Photo.self, id: "large") == large)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
