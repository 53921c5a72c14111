import Foundation
import Synchronization

/// The classes of stores by type.
enum StoreTypes {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    /// The class of a type: a registered one, or one of ours.
    static func type(named name: String) -> NSPersistentStore.Type? {
        if let type = registered.withLock({ $0[name] }) { return type }
        return builtIn[name]
    }

    static func register(_ type: NSPersistentStore.Type?, for name: String) {
        registered.withLock { $0[name] = type }
    }

    /// The names of all types, sorted.
    static var names: [String] {
        Set(builtIn.keys).union(registered.withLock { Array($0.keys) }).sorted()
    }

    private static let builtIn: [String: NSPersistentStore.Type] = [
        NSSQLiteStoreType: SQLiteStore.self, NSInMemoryStoreType: InMemoryStore.self,
    ]
}

extension NSPersistentStore {
    /// A type of store.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The name of the type.
        public let rawValue: String
        /// Makes a type from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A store in an SQLite database.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// A store in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// A store in one binary file.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
    }
}
