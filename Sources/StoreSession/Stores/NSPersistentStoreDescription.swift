import CoreDataModel
import Foundation
import StoreEngine

/// The description of a store to open: its type, location and options.
open class NSPersistentStoreDescription: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: set up before the store is loaded, and only read from then on.

    /// The type of store. The default is `NSSQLiteStoreType`.
    open var type = NSSQLiteStoreType
    /// The configuration of the model whose entities the store holds; `nil` for all.
    open var configuration: String?
    /// The location of the store.
    open var url: URL?
    /// The options of the store, by `NS…Option` keys.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]

    /// Creates a description of an SQLite store.
    ///
    /// ```swift
    /// let description = NSPersistentStoreDescription(url: url)
    /// description.shouldInferMappingModelAutomatically = false
    /// container.persistentStoreDescriptions = [description]
    /// ```
    ///
    /// - Parameter url: the location of the store, which may not exist yet.
    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// Creates a description of an SQLite store at `/dev/null`, which is in memory: set a `url`, or another type.
    public override convenience init() { self.init(url: URL(fileURLWithPath: "/dev/null")) }

    /// Sets an option; `nil` removes it.
    ///
    /// - Parameters:
    ///   - option: the value, usually an `NSNumber` or `NSString`.
    ///   - key: an `NS…Option` key.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    private func flag(_ key: String) -> Bool { StoreSettings.flag(options, key) }

    /// Whether the store may only be read.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// How long to wait for a locked store, in seconds. The default is 240.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? StoreSettings.defaultTimeout }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// The pragmas to set on the SQLite connection.
    open var sqlitePragmas: [String: NSObject] {
        (options[NSSQLitePragmasOption] as? NSDictionary) as? [String: NSObject] ?? [:]
    }

    /// Sets a pragma; `nil` removes it.
    ///
    /// - Parameters:
    ///   - value: the value of the pragma.
    ///   - name: the name of the pragma, such as `synchronous`.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(NSDictionary(dictionary: pragmas), forKey: NSSQLitePragmasOption)
    }

    /// Whether the store is opened in the background. The default is `false`.
    open var shouldAddStoreAsynchronously = false

    /// Whether the store is migrated if its model differs. The default is `true`.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether a mapping is inferred for a migration. The default is `true`.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }

    /// Makes the folder of the store's file, where the store may be created.
    package final func makeFolder() {
        guard type != NSInMemoryStoreType, let url, !isReadOnly else { return }
        // If this fails, opening the store reports it, with the path.
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    /// The directory of stores whose descriptions name no other.
    package static var defaultDirectory: URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL(fileURLWithPath: NSTemporaryDirectory())
        return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    /// The description of an SQLite store in a directory, named like a container or a manager.
    package convenience init(named name: String, in directory: URL = NSPersistentStoreDescription.defaultDirectory) {
        self.init(url: directory.appendingPathComponent("\(name).sqlite"))
    }

    /// Returns a copy of the description.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        return copy
    }

    /// Whether the other object describes the same store, opened in the same way.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal description.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        if other === self { return true }
        return type == other.type && url == other.url && configuration == other.configuration
            && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously && options == other.options
    }

    /// A hash of the location.
    open override var hash: Int { url.hashValue }

    /// The type and the location; passwords in it are left out.
    open override var description: String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
        let place = url?.withoutPassword.absoluteString ?? "none"
        return "<\(Swift.type(of: self)): 0x\(address)> (type: \(type), url: \(place))"
    }
}
