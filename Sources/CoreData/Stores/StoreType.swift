import Foundation

extension NSPersistentStore {
    /// A type of store.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The name of the type, as it was registered.
        public typealias RawValue = String
        /// The name of the type.
        public let rawValue: String
        /// Makes a type from its name.
        ///
        /// - Parameter rawValue: the name, such as `SQLite`.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A store in an SQLite database.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// A store in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// A store in one binary file.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// A store in one XML file, which Apple has on macOS only.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }
}
