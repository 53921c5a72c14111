import Foundation
import SQLiteConnection
import Testing

@testable import CoreData
@testable import SQLiteEngine

@Suite("A connection that a generation was read with")
struct IdleReaderTests {
    private let store: BatchStore
    private let url: URL

    init() throws {
        store = try BatchStore()
        url = try #require(store.container.persistentStoreCoordinator.persistentStores.first?.url)
        try store.save { $0.make("Tag", ["name": "a"]) }
    }

    private struct Connection { weak var store: OpenStore? }

    /// What a generation is read with.
    private func connection(of token: NSQueryGenerationToken) throws -> Connection {
        let open = try #require(store.container.persistentStoreCoordinator.persistentStores.first)
        return Connection(store: try #require(token.generation(of: open) as? PinnedReader).store)
    }

    /// How often this process has the store's file open.
    private func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == url.path
        }
    }

    private func readTags() throws -> [String] {
        let coordinator = store.container.persistentStoreCoordinator
        let token = try coordinator.pinCurrentGeneration()
        let request = NSFetchRequest<NSDictionary>(entityName: "Tag")
        request.resultType = .dictionaryResultType
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try store.context.performAndWait {
            try coordinator.session.reading(token.state) {
                try store.context.fetch(request).compactMap { $0["name"] as? String }
            }
        }
    }

    @Test("is the next one's, who reads what has been saved since")
    func usedAgain() throws {
        let coordinator = store.container.persistentStoreCoordinator
        let first = try connection(of: coordinator.pinCurrentGeneration())
        try store.save { $0.make("Tag", ["name": "b"]) }
        #expect(try readTags() == ["a", "b"])
        let second = try connection(of: coordinator.pinCurrentGeneration())
        #expect(first.store != nil && first.store === second.store)
    }

    @Test("holds no transaction: the log can be moved into the file")
    func checkpoint() throws {
        _ = try readTags()
        try store.save { $0.make("Tag", ["name": "b"]) }
        let other = try SQLiteConnection.Connection(path: url.path, mode: .readWrite, busyTimeout: 0)
        #expect(try other.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
    }

    @Test("is closed with the store")
    func closed() throws {
        _ = try readTags()
        let coordinator = store.container.persistentStoreCoordinator
        try store.container.viewContext.performAndWait {
            for one in coordinator.persistentStores { try coordinator.remove(one) }
        }
        #expect(try openFiles() == 0)
        #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
    }

    @Test("is closed when nobody reads the generation any more, if it outlives the store")
    func closedLate() throws {
        let coordinator = store.container.persistentStoreCoordinator
        var token: NSQueryGenerationToken? = try coordinator.pinCurrentGeneration()
        for one in coordinator.persistentStores { try coordinator.remove(one) }
        #expect(try openFiles() > 0)
        withExtendedLifetime(token) {}
        token = nil
        #expect(try openFiles() == 0)
    }

    @Test("is not used for a file whose structure another program has changed")
    func changedStructure() throws {
        _ = try readTags()
        try SQLiteConnection.Connection(path: url.path, mode: .readWrite).execute("CREATE INDEX own ON ZTAG (ZNAME)")
        try store.save { $0.make("Tag", ["name": "b"]) }
        #expect(try readTags() == ["a", "b"])
    }

    @Test("serves one of the generations that are read at the same time; four connections are kept")
    func several() throws {
        let coordinator = store.container.persistentStoreCoordinator
        var tokens: [NSQueryGenerationToken] = []
        for number in 0..<6 {
            tokens.append(try coordinator.pinCurrentGeneration())
            try store.save { $0.make("Tag", ["name": "\(number)"]) }
        }
        let connections = try tokens.map { try connection(of: $0) }
        #expect(Set(connections.compactMap { $0.store.map { ObjectIdentifier($0) } }).count == 6)
        tokens = []
        #expect(connections.count { $0.store != nil } == 4)
    }
}
