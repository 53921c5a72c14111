package import CoreData

/// Where a manager keeps its models.
public struct StoreLocation: Sendable {
    // Never handed out: managers change theirs, and those of one location may open at the same time.
    private let description: NSPersistentStoreDescription?
    let url: URL?
    let creation: StoreCreation

    package init(
        _ description: NSPersistentStoreDescription?, url: URL? = nil, creating creation: StoreCreation = .folders
    ) {
        // The caller's may change.
        self.description = description.map(Self.copy)
        self.url = url
        self.creation = creation
    }

    /// Returns what the store is called there, and how it is opened, for one manager alone; `nil` where the container's own description
    /// will do.
    func makeDescription() -> NSPersistentStoreDescription? { description.map(Self.copy) }

    private static func copy(_ description: NSPersistentStoreDescription) -> NSPersistentStoreDescription {
        description.copy() as? NSPersistentStoreDescription ?? description
    }

    /// A SQLite file with the manager's name, where `NSPersistentContainer` puts it.
    public static let standard = StoreLocation(nil)

    /// A SQLite file.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - creation: what may be made. By default a missing file is, but not a missing folder: a mistyped path is an error, instead of a new
    ///     folder with an empty store in it.
    /// - Returns: the location.
    public static func file(_ url: URL, creating creation: StoreCreation = .store) -> StoreLocation {
        StoreLocation(NSPersistentStoreDescription(url: url), url: url, creating: creation)
    }

    /// Memory only: gone with the manager.
    public static let memory: StoreLocation = {
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        return StoreLocation(description)
    }()
}

/// What `load()` makes where there is nothing yet.
public enum StoreCreation: Sendable {
    /// Nothing: a store that is not there is ``PersistenceError/Code/storeNotFound``. After `destroy()` it may be made again.
    case nothing
    /// The file, in a folder that is there; otherwise ``PersistenceError/Code/folderNotFound``.
    case store
    /// The file, and the folders on the way to it.
    case folders
}

/// Whether a manager may make the store that it is to load.
struct CreationCheck: Sendable {
    let url: URL?
    let creation: StoreCreation

    init(_ location: StoreLocation) { (url, creation) = (location.url, location.creation) }

    /// - Parameter wasDestroyed: whether the manager itself has taken the store away.
    /// - Throws: ``PersistenceError/Code/storeNotFound``, ``PersistenceError/Code/folderNotFound``
    func check(wasDestroyed: Bool) throws {
        guard let url, url.isFileURL, !FileManager.default.fileExists(atPath: url.path) else { return }
        switch creation {
        case .folders: return
        case .nothing where !wasDestroyed: throw PersistenceError.storeNotFound(path: url.path)
        case .nothing, .store:
            let folder = url.deletingLastPathComponent().path
            guard FileManager.default.fileExists(atPath: folder) else {
                throw PersistenceError.folderNotFound(path: folder)
            }
        }
    }
}

extension NSPersistentStoreDescription {
    /// Has the store tell of changes that others make, which observations follow, unless the description says that it must not.
    func announceChanges() {
        guard options[NSPersistentStoreRemoteChangeNotificationPostOptionKey] == nil else { return }
        setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    }
}
