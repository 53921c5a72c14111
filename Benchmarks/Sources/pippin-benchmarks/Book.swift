import Pippin

/// The same six values, whoever reads them.
protocol BookValues {
    var uid: String { get }
    var title: String { get }
    var count: Int64 { get }
    var price: Double { get }
    var createdAt: Date { get }
    var isFlagged: Bool { get }
}

extension BookValues {
    @inline(__always)
    func add(to checksum: inout Checksum) {
        checksum.add(
            uidBytes: uid.utf8.count, titleBytes: title.utf8.count, count: count, price: price,
            createdAt: createdAt.timeIntervalSinceReferenceDate, isFlagged: isFlagged)
    }
}

/// A struct with them, with the entity's name that the C API's statements have.
protocol BookModel: CoreModel, BookValues where ID == String {
    init(uid: String, title: String, count: Int64, price: Double, createdAt: Date, isFlagged: Bool)
}

@CoreModel
struct Book: BookModel {
    let uid: String
    let title: String
    let count: Int64
    let price: Double
    let createdAt: Date
    let isFlagged: Bool

    static var schema: Schema<Book> { Schema(name: "Item") }
}

/// By coding that the compiler synthesizes.
struct CodedBook: BookModel {
    let uid: String
    let title: String
    let count: Int64
    let price: Double
    let createdAt: Date
    let isFlagged: Bool

    static var schema: Schema<CodedBook> { Schema(name: "Item") }
}

extension BookModel {
    init(_ sample: Sample) {
        self.init(
            uid: sample.uid, title: sample.title, count: sample.count, price: sample.price, createdAt: sample.createdAt,
            isFlagged: sample.isFlagged)
    }

    static func manager(store: URL) throws -> PersistenceManager {
        let manager = PersistenceManager(models: Self.self, store: .file(store))
        try manager.readAndWait { _ in }
        return manager
    }

    static func readAll(_ manager: PersistenceManager) throws -> Checksum {
        var checksum = Checksum()
        for book in try manager.readAndWait({ try $0.fetch(Self.self) }) { book.add(to: &checksum) }
        return checksum
    }

    /// All in one block, on one state of the store.
    static func read(keys: [String], _ manager: PersistenceManager) throws -> Checksum {
        try manager.readAndWait { store in
            var checksum = Checksum()
            for key in keys { try store.find(Self.self, id: key)?.add(to: &checksum) }
            return checksum
        }
    }

    /// Each by itself, as a program asks now and then.
    static func readEach(keys: [String], _ manager: PersistenceManager) throws -> Checksum {
        try waiting {
            var checksum = Checksum()
            for key in keys { try await manager.find(Self.self, id: key)?.add(to: &checksum) }
            return checksum
        }
    }
}

extension PersistenceManager {
    /// Removes the stores, so that the files are complete.
    func close() throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}

/// The same with its conversion written by hand.
struct MappedBook: CoreModel, BookValues {
    let uid: String
    let title: String
    let count: Int64
    let price: Double
    let createdAt: Date
    let isFlagged: Bool

    static var schema: Schema<MappedBook> { Schema(name: "Item") }

    private enum CodingKeys: String, CodingKey { case uid, title, count, price, createdAt, isFlagged }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        uid = try values.decode(String.self, forKey: .uid)
        title = try values.decode(String.self, forKey: .title)
        count = try values.decode(Int64.self, forKey: .count)
        price = try values.decode(Double.self, forKey: .price)
        createdAt = try values.decode(Date.self, forKey: .createdAt)
        isFlagged = try values.decode(Bool.self, forKey: .isFlagged)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(uid, forKey: .uid)
        try values.encode(title, forKey: .title)
        try values.encode(count, forKey: .count)
        try values.encode(price, forKey: .price)
        try values.encode(createdAt, forKey: .createdAt)
        try values.encode(isFlagged, forKey: .isFlagged)
    }

    static func manager(store: URL) throws -> PersistenceManager {
        let manager = PersistenceManager(models: MappedBook.self, store: .file(store))
        try manager.readAndWait { _ in }
        return manager
    }

    static func readAll(_ manager: PersistenceManager) throws -> Checksum {
        var checksum = Checksum()
        for book in try manager.readAndWait({ try $0.fetch(MappedBook.self) }) { book.add(to: &checksum) }
        return checksum
    }
}
