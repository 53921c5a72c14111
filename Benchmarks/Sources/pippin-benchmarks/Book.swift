import Pippin

/// The same six values as a struct, with the entity's name that the C API's statements have.
struct Book: CoreModel, Codable, Sendable {
    let uid: String
    let title: String
    let count: Int64
    let price: Double
    let createdAt: Date
    let isFlagged: Bool

    static var schema: Schema<Book> { Schema(name: "Item") }

    init(_ sample: Sample) {
        uid = sample.uid
        title = sample.title
        count = sample.count
        price = sample.price
        createdAt = sample.createdAt
        isFlagged = sample.isFlagged
    }

    static func manager(store: URL) throws -> PersistenceManager {
        let manager = PersistenceManager(models: Book.self, store: .file(store))
        try manager.load()
        return manager
    }

    static func close(_ manager: PersistenceManager) throws {
        let coordinator = manager.container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    static func readAll(_ manager: PersistenceManager) throws -> Checksum {
        var checksum = Checksum()
        for book in try manager.fetch(Book.self) { book.add(to: &checksum) }
        return checksum
    }

    static func read(keys: [String], _ manager: PersistenceManager) throws -> Checksum {
        var checksum = Checksum()
        for key in keys { try manager.fetch(Book.self, uid: key)?.add(to: &checksum) }
        return checksum
    }

    private func add(to checksum: inout Checksum) {
        checksum.add(
            uidBytes: uid.utf8.count, titleBytes: title.utf8.count, count: count, price: price,
            createdAt: createdAt.timeIntervalSinceReferenceDate, isFlagged: isFlagged)
    }
}
