package import StoreSession

/// The place where a manager keeps its models.
public struct StoreLocation: Sendable {
    // Never handed out: managers change their own copies, and those of one location may open at the same time.
    private let description: NSPersistentStoreDescription?
    let url: URL?
    let creation: StoreCreation

    package init(
        _ description: NSPersistentStoreDescription?, url: URL? = nil, creating creation: StoreCreation = .folders
    ) {
        // The caller may change the original.
        self.description = description.map(Self.copy)
        self.url = url
        self.creation = creation
    }

    /// The same place, where the store keeps a history with what rows were before: for ever, unless the location says
    /// for how long.
    package var keepingHistory: StoreLocation {
        guard let description = makeDescription() else { return self }
        let settings = StoreSettings(description.options)
        if !settings.keepsFormerValues { description.keepHistory(.always, author: settings.author) }
        return StoreLocation(description, url: url, creating: creation)
    }

    /// Returns the description of the store for one manager alone; `nil` if the container's own description suffices.
    package func makeDescription() -> NSPersistentStoreDescription? { description.map(Self.copy) }

    private static func copy(_ description: NSPersistentStoreDescription) -> NSPersistentStoreDescription {
        description.copy() as? NSPersistentStoreDescription ?? description
    }

    /// A SQLite file with the manager's name, where `NSPersistentContainer` puts it.
    public static let standard = StoreLocation(nil)

    /// A SQLite file.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - creation: what may be created. By default a missing file is created, but not a missing folder, so that a
    ///     mistyped path is an error instead of a new folder with an empty store.
    ///   - history: whether and how long the store keeps a history of its changes; nil for no history.
    ///   - author: who this program is in the history.
    /// - Returns: the location.
    public static func file(
        _ url: URL, creating creation: StoreCreation = .store, keepsHistory history: HistoryKeeping? = nil,
        author: String? = nil
    ) -> StoreLocation {
        let description = NSPersistentStoreDescription(url: url)
        description.keepHistory(history, author: author)
        return StoreLocation(description, url: url, creating: creation)
    }

    /// A store in memory, which is lost with the manager.
    public static let memory: StoreLocation = {
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        return StoreLocation(description)
    }()
}

/// What `load()` creates if there is no store yet.
public enum StoreCreation: Sendable {
    /// Nothing: a missing store is ``PersistenceError/Code/storeNotFound``. After `destroy()` it may be created again.
    case nothing
    /// The file, in an existing folder; otherwise ``PersistenceError/Code/folderNotFound``.
    case store
    /// The file, and the folders on the way to it.
    case folders
}

/// Decides whether a manager may create the store that it is to load.
struct CreationCheck: Sendable {
    let url: URL?
    let creation: StoreCreation

    init(_ location: StoreLocation) { (url, creation) = (location.url, location.creation) }

    /// - Parameter wasDestroyed: whether the manager itself has destroyed the store.
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
    /// Makes the store keep a history, with what changed and deleted models were before.
    package func keepHistory(_ history: HistoryKeeping?, author: String?) {
        guard let history else { return }
        setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        setOption(true as NSNumber, forKey: StoreSettings.keepsFormerValuesOption)
        setOption(author.map { $0 as NSString }, forKey: StoreSettings.authorOption)
        setOption(history.age.map { $0 as NSNumber }, forKey: StoreSettings.historyAgeOption)
    }

    /// Makes the store announce changes by others, which observations follow, unless the description sets that option
    /// itself.
    func announceChanges() {
        guard options[NSPersistentStoreRemoteChangeNotificationPostOptionKey] == nil else { return }
        setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    }
}

/// How long a store keeps the history of its changes: who changed what and when, and what it was before.
///
/// ```swift
/// let manager = PersistenceManager(models: Book.self, store: .file(url, keepsHistory: .days(90), author: "till 2"))
/// ```
///
/// A history is part of the store. Once it is there, every program has to keep it up: a file that has one is only read
/// by a manager that keeps none. Apple's frameworks keep it up, too, though without what was before.
public struct HistoryKeeping: Hashable, Sendable {
    /// How old a transaction may become, in seconds; nil for any age.
    let age: Double?

    /// Nothing is deleted by itself.
    public static let always = HistoryKeeping(age: nil)

    /// Transactions that are older are deleted when the store is opened.
    ///
    /// - Parameter count: how many days a transaction is kept at least.
    /// - Returns: the rule.
    public static func days(_ count: Int) -> HistoryKeeping { HistoryKeeping(age: Double(count) * 86_400) }
}
