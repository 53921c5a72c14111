import CoreData

/// Where a manager keeps its objects.
public enum StoreLocation {
    /// A SQLite file with the manager's name, where `NSPersistentContainer` puts it.
    case standard
    /// A SQLite file.
    case file(URL)
    /// Memory only: gone with the manager.
    case memory
    /// Whatever the description says: type, options, read-only or not, migration.
    case description(NSPersistentStoreDescription)

    /// The store's description, a copy of the caller's; nil where the container's own will do.
    var description: NSPersistentStoreDescription? {
        switch self {
        case .standard:
            return nil
        case .file(let url):
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

extension NSPersistentStoreDescription {
    /// Has the store tell of changes that others make, which observations follow, unless the description says that it must not.
    func announceChanges() {
        guard options[NSPersistentStoreRemoteChangeNotificationPostOptionKey] == nil else { return }
        setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    }
}
