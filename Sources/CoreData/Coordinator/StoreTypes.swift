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

    /// All types by name.
    static var all: [String: NSPersistentStore.Type] {
        builtIn.merging(registered.withLock { $0 }) { $1 }
    }

    /// The names of all types, sorted.
    static var names: [String] { all.keys.sorted() }

    /// A class as a value that a dictionary of Objective-C's can hold.
    static func value(of type: NSPersistentStore.Type) -> NSValue {
        NSNumber(value: UInt(bitPattern: ObjectIdentifier(type)))
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
