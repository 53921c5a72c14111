import CoreData
import Foundation

/// A temporary folder with stores to work on: an empty one, made by Core Data, and copies of it filled by the C API.
/// Both sides so have the very same schema.
final class Workspace {
    let folder: URL
    private var filled: [Int: URL] = [:]
    private var filledWithBooks: [Int: URL] = [:]
    private var filledWithOrders: URL?
    private var copies = 0

    /// - Throws: what the file system, Core Data and SQLite report.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let stack = try Stack(store: folder.appendingPathComponent("empty.sqlite"))
        try stack.close()
        try Baseline(path: folder.appendingPathComponent("empty.sqlite")).checkpoint()
        try Book.manager(store: folder.appendingPathComponent("books.sqlite")).close()
        try Baseline(path: folder.appendingPathComponent("books.sqlite")).checkpoint()
        try Poet.manager(store: folder.appendingPathComponent("poets.sqlite")).close()
        try Baseline(path: folder.appendingPathComponent("poets.sqlite")).checkpoint()
        try Northwind.manager(
            folder.appendingPathComponent("northwind.sqlite"), Order.self, OrderWithLines.self
        ).close()
        try Baseline(path: folder.appendingPathComponent("northwind.sqlite")).checkpoint()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A new store without objects.
    func emptyStore() throws -> URL { try copy(folder.appendingPathComponent("empty.sqlite")) }

    /// A store with `count` objects, to be read only.
    func filledStore(_ count: Int) throws -> URL {
        if let store = filled[count] { return store }
        let store = try emptyStore()
        let database = try Baseline(path: store)
        try database.insert(Sample.make(count))
        try database.checkpoint()
        filled[count] = store
        return store
    }

    /// A new store of structs, without any.
    func emptyBookStore() throws -> URL { try copy(folder.appendingPathComponent("books.sqlite")) }

    /// A new store of nested structs, without any.
    func emptyPoetStore() throws -> URL { try copy(folder.appendingPathComponent("poets.sqlite")) }

    /// A new store of orders, without any.
    func emptyNorthwind() throws -> URL { try copy(folder.appendingPathComponent("northwind.sqlite")) }

    /// A store with all orders, to be read only.
    func northwind() throws -> URL {
        if let filledWithOrders { return filledWithOrders }
        let store = try emptyNorthwind()
        let database = try Baseline(path: store)
        try database.insert(Order.make(Northwind.flat))
        try database.insert(OrderWithLines.make(Northwind.large))
        try database.checkpoint()
        filledWithOrders = store
        return store
    }

    /// A store with all orders, to be changed.
    func ownNorthwind() throws -> URL { try copy(northwind()) }

    /// Where there is no store yet.
    func newStore() -> URL {
        copies += 1
        return folder.appendingPathComponent("new-\(copies).sqlite")
    }

    /// A store with `count` structs, to be read only.
    func filledBookStore(_ count: Int) throws -> URL {
        if let store = filledWithBooks[count] { return store }
        let store = try emptyBookStore()
        let database = try Baseline(path: store)
        try database.insert(Sample.make(count))
        try database.checkpoint()
        filledWithBooks[count] = store
        return store
    }

    /// A store with `count` objects, to be changed.
    func ownFilledStore(_ count: Int) throws -> URL { try copy(filledStore(count)) }

    /// Forgets the stores that a round has used up.
    func discard(_ store: URL) {
        guard !filled.values.contains(store), !filledWithBooks.values.contains(store), store != filledWithOrders else {
            return
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
    }

    private func copy(_ store: URL) throws -> URL {
        copies += 1
        let target = folder.appendingPathComponent("copy-\(copies).sqlite")
        try FileManager.default.copyItem(at: store, to: target)
        return target
    }
}
