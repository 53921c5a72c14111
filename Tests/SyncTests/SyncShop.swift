import Foundation
import LoopbackServer
import PippinSync
import TestSupport

struct Shelf: CoreModel, Equatable {
    let id: String
    var name: String
    var books: [Book] = []

    static var schema: Schema<Shelf> { Schema(.owns(\.books)) }
}

struct Size: Codable, Equatable {
    var pages: Int
    var weight: Double?
}

struct Book: CoreModel, Equatable {
    let id: String
    var title: String
    var note = ""
    var stock = 0
    var readUpTo = 0
    var size = Size(pages: 0)
    var printed: Date?
    var tags: Set<Tag> = []

    static var schema: Schema<Book> { Schema(.merge(\.stock, .sum), .merge(\.readUpTo, .larger)) }
}

struct Tag: CoreModel, Equatable, Hashable {
    let id: String
    var name: String
    var uses = 0

    static var schema: Schema<Tag> { Schema(.unique(\.name, whenTaken: .join)) }
}

struct Account: CoreModel, Equatable {
    let id: Int
    var title: String
    var balance: Decimal = 0

    static var schema: Schema<Account> { Schema(.whenDeleted(.keepEdits)) }
}

struct Slot: CoreModel, Equatable {
    let id: UUID
    var place: String

    static var schema: Schema<Slot> { Schema(.unique(\.place)) }
}

/// Its deletion is not taken if somebody has changed it meanwhile.
struct Crate: CoreModel, Equatable {
    let id: String
    var name: String
    var books: [Book] = []
    var tags: Set<Tag> = []

    static var schema: Schema<Crate> { Schema(.whenDeleted(.keepEdits)) }
}

/// A server of a store that devices ask over HTTP.
final class OnlineServer: Sendable {
    let manager: PersistenceManager
    let sync: SyncServer
    private let listener: HTTPListener

    var url: String { "http://127.0.0.1:\(listener.port)/sync" }
    var port: Int { listener.port }

    /// - Parameters:
    ///   - manager: the server's store.
    ///   - port: where it listens; 0 for any free port.
    ///   - limits: how much it takes.
    ///   - users: what users may see, by their tokens; nil for a server whose tokens are names of users.
    ///   - authorize: whether a user may make a change.
    /// - Throws: the errors of the server and of its port.
    init(
        _ manager: PersistenceManager, port: Int = 0, limits: SyncServer.Limits = .init(),
        users: (@Sendable (String) -> SyncUser?)? = nil,
        authorize: (@Sendable (SyncUser, PushedChange) throws -> Bool)? = nil
    ) throws {
        self.manager = manager
        let sync = try SyncServer(manager, limits: limits, authorize: authorize)
        self.sync = sync
        listener = try HTTPListener(port: port) { request in
            let token = request.headers["authorization"].map { String($0.dropFirst("Bearer ".count)) }
            guard let token, let user = users.map({ $0(token) }) ?? SyncUser(token) else {
                return HTTPResponse(text: "Log in.\n", status: 401)
            }
            return await sync.answer(request, for: user)
        }
    }

    func end() async {
        listener.stop()
        await manager.close()
    }
}

/// Devices with a file each, and a server.
struct SyncShop {
    let folder: TestFolder
    let server: StoreLocation
    let devices: [Device]
    /// What devices ask over HTTP.
    let online: OnlineServer?

    /// Whether devices reach the server over HTTP, in the tests of a task.
    @TaskLocal static var isOverHTTP = false

    struct Device {
        let manager: PersistenceManager
        let sync: StoreSync

        /// All rows as text, in one order.
        func text() async throws -> String { try await SyncShop.text(manager) }
    }

    static let models: [any CoreModel.Type] = [Shelf.self, Book.self, Tag.self, Account.self, Slot.self, Crate.self]

    static func manager(_ location: StoreLocation) -> PersistenceManager {
        PersistenceManager(models: models, store: location)
    }

    /// Devices that send and hear by themselves, or else only in `settle()`.
    init(_ count: Int = 2, server: StoreLocation? = nil, isLive: Bool = false) async throws {
        folder = try TestFolder()
        let folder = folder.url
        self.server = server ?? .file(folder.appendingPathComponent("server.sqlite"), keepsHistory: .always)
        online = Self.isOverHTTP ? try OnlineServer(Self.manager(self.server)) : nil
        var devices: [Device] = []
        for number in 0..<count {
            let manager = Self.manager(
                .file(folder.appendingPathComponent("device\(number).sqlite"), keepsHistory: .always))
            devices.append(Device(manager: manager, sync: try Self.sync(manager, online, self.server, isLive)))
        }
        self.devices = devices
        for device in devices { try await device.sync.finish() }
    }

    /// Keeps a store in step with the shop's server.
    func sync(_ manager: PersistenceManager) throws -> StoreSync { try Self.sync(manager, online, server, false) }

    private static func sync(
        _ manager: PersistenceManager, _ online: OnlineServer?, _ server: StoreLocation, _ isLive: Bool
    ) throws -> StoreSync {
        if let online { return try StoreSync(manager, .server(online.url) { "ann" }, isLive: isLive) }
        return try StoreSync(manager, server, isLive: isLive)
    }

    subscript(number: Int) -> PersistenceManager { devices[number].manager }

    /// Runs all devices until nothing is left to send or to hear.
    func settle() async throws {
        for _ in 0..<2 { for device in devices { try await device.sync.finish() } }
    }

    func end() async {
        for device in devices { await device.sync.stop() }
        await online?.end()
    }

    static func text(_ manager: PersistenceManager) async throws -> String {
        var lines: [String] = []
        for shelf in try await manager.fetch(Shelf.self) {
            lines.append("shelf \(shelf.id) \(shelf.name): \(shelf.books.map(\.id).joined(separator: " "))")
        }
        for book in try await manager.fetch(Book.self) {
            lines.append(
                "book \(book.id) \(book.title) \(book.note) \(book.stock) \(book.readUpTo) \(book.size) "
                    + "\(book.printed?.timeIntervalSince1970 ?? 0) \(book.tags.map(\.id).sorted())")
        }
        for tag in try await manager.fetch(Tag.self) { lines.append("tag \(tag.id) \(tag.name) \(tag.uses)") }
        for account in try await manager.fetch(Account.self) {
            lines.append("account \(account.id) \(account.title) \(account.balance)")
        }
        for slot in try await manager.fetch(Slot.self) { lines.append("slot \(slot.id) \(slot.place)") }
        return lines.sorted().joined(separator: "\n")
    }

    /// All rows of the server as text.
    func serverText() async throws -> String {
        let manager = Self.manager(server)
        let text = try await Self.text(manager)
        await manager.close()
        return text
    }
}
