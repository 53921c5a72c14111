import CoreDataModel
import Foundation
import SQLiteEngine
import StoreEngine
import StoreEngineContract
import TestSupport

/// SQLite without a file.
struct SQLiteInMemory: EngineUnderTest {
    func makeEngine(for model: NSManagedObjectModel) throws -> any StoreEngine {
        let engine = SQLiteEngine(StoreFacts(url: URL(fileURLWithPath: "/dev/null")))
        try engine.open(model)
        return engine
    }

    func reopen(_ engine: any StoreEngine, for model: NSManagedObjectModel) -> any StoreEngine { engine }

    func discard(_ engine: any StoreEngine) { (engine as? SQLiteEngine)?.close() }
}

/// SQLite in files of one folder.
final class SQLiteInFile: EngineUnderTest {
    private let folder: TestFolder
    private var urls: [ObjectIdentifier: URL] = [:]

    init() throws { folder = try TestFolder() }

    func makeEngine(for model: NSManagedObjectModel) throws -> any StoreEngine {
        try open(folder.file("\(UUID().uuidString).sqlite"), model)
    }

    func reopen(_ engine: any StoreEngine, for model: NSManagedObjectModel) throws -> any StoreEngine {
        guard let url = close(engine) else { return engine }
        return try open(url, model)
    }

    func discard(_ engine: any StoreEngine) {
        guard let url = close(engine) else { return }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }

    private func open(_ url: URL, _ model: NSManagedObjectModel) throws -> any StoreEngine {
        let facts = StoreFacts(url: url)
        let engine = SQLiteEngine(facts)
        try engine.open(model)
        urls[ObjectIdentifier(engine)] = url
        return engine
    }

    private func close(_ engine: any StoreEngine) -> URL? {
        (engine as? SQLiteEngine)?.close()
        return urls.removeValue(forKey: ObjectIdentifier(engine))
    }
}
