import Foundation

/// A model, a coordinator, stores and contexts, set up together.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library")   // Library.momd of the main bundle or a resource bundle
/// container.loadPersistentStores { description, error in … }
/// let context = container.viewContext
/// ```
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // @unchecked Sendable: `persistentStoreDescriptions` is set up before the stores are loaded; the rest is immutable.

    /// The name: of the model, and of the store's file unless a description says otherwise.
    open var name: String { storedName }
    private let storedName: String
    /// The context of the main queue.
    open var viewContext: NSManagedObjectContext { mainContext }
    private let mainContext: NSManagedObjectContext
    /// The model.
    open var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }
    /// The coordinator.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
    private let coordinator: NSPersistentStoreCoordinator
    /// What stores to load. There is one at first: an SQLite store named like the container, in
    /// `defaultDirectoryURL()`.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription]

    /// Creates a container with a model that is found by name: `<name>.momd` or `.mom`.
    ///
    /// Containers of one name have one model, as long as its file says the same. Where there is none, the standard error output says so, as
    /// with Core Data, and the container has a model without entities. It opens no store: the error names the places where it looked.
    ///
    /// - Parameter name: the name of the model, and of the file of the store.
    public convenience init(name: String) {
        if let url = ModelLocator.url(forModelNamed: name), let model = NSManagedObjectModel(contentsOf: url) {
            self.init(name: name, managedObjectModel: SharedModels.model(model, at: url.path))
            return
        }
        let reason =
            "There is no model “\(name)”: looked for \(name).momd and \(name).mom in "
            + ModelLocator.searchedDirectories().map(\.path).joined(separator: ", ")
            + ". Pass a model: NSPersistentContainer(name:managedObjectModel:)."
        try? FileHandle.standardError.write(contentsOf: Data("CoreData: error: \(reason)\n".utf8))
        self.init(name: name, managedObjectModel: NSManagedObjectModel())
        coordinator.missingModel = reason
    }

    /// Creates a container with a model.
    ///
    /// - Parameters:
    ///   - name: the name of the store's file, without its extension.
    ///   - model: the model, which can be changed no more.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        storedName = name
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        mainContext.persistentStoreCoordinator = coordinator
        persistentStoreDescriptions = []
        super.init()
        persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                url: type(of: self).defaultDirectoryURL().appendingPathComponent("\(name).sqlite"))
        ]
    }

    /// Where stores are kept unless a description says otherwise: `$XDG_DATA_HOME/<program>`, by default
    /// `~/.local/share/<program>`. The directory is made when a store is loaded there.
    open class func defaultDirectoryURL() -> URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL(fileURLWithPath: NSTemporaryDirectory())
        return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    /// Opens the stores of the descriptions; folders that are missing are made.
    ///
    /// - Parameter block: called once a description, with the error if the store could not be opened: before this
    ///   returns, or later for descriptions that say so.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            if description.type != NSInMemoryStoreType, let url = description.url, !description.isReadOnly {
                // A failure shows when the store is opened, with the path.
                try? FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// A new context of a private queue.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block on the queue of a new background context.
    ///
    /// - Parameter block: what to run, with the context; saving it is up to the block.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        let work = Transferred(block)
        context.perform { work.value(context) }
    }

    /// Runs a block on the queue of a new background context, without blocking the caller.
    ///
    /// ```swift
    /// let count = try await container.performBackgroundTask { context in
    ///     for name in names { Person(context: context).name = name }
    ///     try context.save()
    ///     return names.count
    /// }
    /// ```
    ///
    /// - Parameter block: what to run, with the context; saving it is up to the block.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    @preconcurrency
    public func performBackgroundTask<T>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async rethrows -> T {
        let context = newBackgroundContext()
        return try await context.perform { try block(context) }
    }
}
