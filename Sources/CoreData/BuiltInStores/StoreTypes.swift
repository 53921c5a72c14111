import CompactCollections
import Foundation
import Ordering
import SQLiteEngine
import SQLiteMigration
import Synchronization

/// The classes of stores, by their types.
enum StoreTypes {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    /// The class for a type: a registered one, or a built-in one.
    static func type(named name: String) -> NSPersistentStore.Type? {
        if let type = registered.withLock({ $0[name] }) { return type }
        return builtIn[name]
    }

    /// The class for a type that comes with Core Data, whose name may be written in another case, such as “sqlite”.
    static func type(namedInAnyCase name: String) -> NSPersistentStore.Type? {
        builtIn.keys.first { $0.lowercased() == name.lowercased() }.flatMap(type(named:))
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

    /// The type of store that a file appears to be.
    ///
    /// - Throws: an error if the file cannot be read, or is no known type.
    static func nameOfType(ofFileAt url: URL) throws -> String {
        if SQLiteFormat.hasOpen(url) { return NSSQLiteStoreType }
        let handle: FileHandle
        do { handle = try FileHandle(forReadingFrom: url) } catch {
            throw StoreError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, "The file “\(url.path)” cannot be read.", url: url,
                underlying: error)
        }
        defer { try? handle.close() }
        let start = try handle.read(upToCount: 2048) ?? Data()
        let known = [
            ("SQLite format 3", NSSQLiteStoreType), ("bplist00", NSBinaryStoreType), ("<?xml", NSXMLStoreType),
        ]
        if let (_, type) = known.first(where: { start.starts(with: $0.0.utf8) }) { return type }
        if XMLStoreReader.reads(fileThatBegins: start) { return NSXMLStoreType }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreInvalidType,
            "“\(url.lastPathComponent)” looks like no store that comes with Core Data; say which type it is of.",
            url: url)
    }

    /// A class as a value for a Foundation dictionary.
    static func value(of type: NSPersistentStore.Type) -> NSValue {
        NSNumber(value: UInt(bitPattern: ObjectIdentifier(type)))
    }

    private static let builtIn: [String: NSPersistentStore.Type] = [
        NSSQLiteStoreType: EngineStore<SQLiteFormat>.self, NSInMemoryStoreType: EngineStore<InMemoryFormat>.self,
        NSXMLStoreType: XMLStore.self, NSBinaryStoreType: BinaryStore.self,
    ]
}
