import CoreData

/// Where a manager keeps its objects.
public enum StoreLocation {
    /// A SQLite file with the manager's name, where `NSPersistentContainer` puts it.
    case standard
    /// An SQLite file. By default, `load()` makes a missing file, but not a missing folder: for a mistyped path it throws, instead of
    /// making a new folder with an empty store in it.
    case file(URL, creating: StoreCreation = .store)
    /// Memory only: gone with the manager.
    case memory
    /// A store as a description has it: its type, options, read-only or not, migration.
    case description(NSPersistentStoreDescription)

    /// The store's description, a copy of the caller's; nil where the container's own will do.
    var description: NSPersistentStoreDescription? {
        switch self {
        case .standard:
            return nil
        case .file(let url, _):
            return NSPersistentStoreDescription(url: url)
        case .memory:
            let description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
            return description
        case .description(let description):
            return description.copy() as? NSPersistentStoreDescription ?? description
        }
    }
}

/// What `load()` makes where there is nothing yet.
public enum StoreCreation: Sendable {
    /// Nothing: a store that is not there is ``PersistenceError/storeNotFound(path:)``. After `destroy()` it may be made again.
    case nothing
    /// The file, in a folder that is there; otherwise ``PersistenceError/folderNotFound(path:)``.
    case store
    /// The file, and the folders on the way to it.
    case folders
}

/// Whether a manager may make the store that it is to load.
struct CreationCheck: Sendable {
    let url: URL?
    let creation: StoreCreation

    init(_ location: StoreLocation) {
        if case .file(let url, let creation) = location {
            (self.url, self.creation) = (url, creation)
        } else {
            (url, creation) = (nil, .folders)
        }
    }

    /// - Parameter wasDestroyed: whether the manager itself has taken the store away.
    /// - Throws: ``PersistenceError/storeNotFound(path:)``, ``PersistenceError/folderNotFound(path:)``
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
