import CompactCollections
import Foundation
import Ordering
import StoreEngine
import StoreSession
import Synchronization

/// The classes of stores, by their types.
enum StoreTypes {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    /// The class for a type: a registered one, or a built-in one.
    static func type(named name: String) -> NSPersistentStore.Type? {
        if let type = registered.withLock({ $0[name] }) { return type }
        return documents[name] ?? StoreFormats.format(ofType: name).map(storeClass)
    }

    /// The class for a type that comes with Core Data, whose name may be written in another case, such as “sqlite”.
    static func type(namedInAnyCase name: String) -> NSPersistentStore.Type? {
        [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType]
            .first { $0.lowercased() == name.lowercased() }.flatMap(type(named:))
    }

    static func register(_ type: NSPersistentStore.Type?, for name: String) {
        registered.withLock { $0[name] = type }
        StoreFormats.register(type?.format, ofType: name)
    }

    /// All types by name.
    static var all: [String: NSPersistentStore.Type] {
        StoreFormats.all.mapValues(storeClass).merging(documents) { $1 }.merging(registered.withLock { $0 }) { $1 }
    }

    /// The names of all types, sorted.
    static var names: [String] { all.keys.sorted() }

    /// A class as a value for a Foundation dictionary.
    static func value(of type: NSPersistentStore.Type) -> NSValue {
        NSNumber(value: UInt(bitPattern: ObjectIdentifier(type)))
    }

    private static let documents: [String: NSPersistentStore.Type] = [
        NSXMLStoreType: XMLStore.self, NSBinaryStoreType: BinaryStore.self,
    ]

    private static func storeClass(_ format: any StoreFormat.Type) -> NSPersistentStore.Type {
        func make<Format: StoreFormat>(_ format: Format.Type) -> NSPersistentStore.Type { EngineStore<Format>.self }
        return make(format)
    }
}
