import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import StoreEngineContract
import Synchronization
import Testing

/// PostgreSQL, each store in a schema of one database.
final class PostgresStores: EngineUnderTest, Sendable {
    let database: TestDatabase
    private let count = Atomic<Int>(0)

    init() throws { database = try TestDatabase() }

    /// Where the next store is.
    func nextURL() -> URL {
        let name = "store_\(count.add(1, ordering: .relaxed).newValue)"
        return URL(string: database.uri() + "&schema=\(name)") ?? database.url()
    }

    func makeEngine(for model: NSManagedObjectModel) throws -> any StoreEngine { try open(nextURL(), model) }

    func open(
        _ url: URL, _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil
    ) throws -> PostgresEngine {
        let engine = PostgresEngine(StoreFacts(url: url, options: options))
        try engine.open(model)
        return engine
    }

    func reopen(_ engine: any StoreEngine, for model: NSManagedObjectModel) throws -> any StoreEngine {
        guard let engine = engine as? PostgresEngine, let url = engine.url else { return engine }
        engine.close()
        return try open(url, model)
    }

    func discard(_ engine: any StoreEngine) {
        guard let engine = engine as? PostgresEngine, let url = engine.url else { return }
        engine.close()
        try? PostgresFormat.destroy(at: url, options: nil)
    }
}
