import Foundation
import StoreSession

/// A model, a coordinator, stores and contexts, set up together.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library")   // Library.momd of the main bundle or a resource bundle
/// container.loadPersistentStores { description, error in … }
/// let context = container.viewContext
/// ```
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // @unchecked Sendable: immutable; the descriptions are set up before the stores are loaded.

    /// The container's name, which is also the model's, and that of the store's file unless a description says
    /// otherwise.
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
    /// The stores to load. Initially there is one: an SQLite store named like the container, in
    /// `defaultDirectoryURL()`.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { coordinator.session.descriptions }
        set { coordinator.session.descriptions = newValue }
    }

    /// Creates a container with a model that is found by name: `<name>.momd` or `.mom`.
    ///
    /// Containers of one name share one model as long as its file is unchanged. If no model is found, a message is
    /// written to standard error, as with Core Data, and the container has a model without entities. It opens no store:
    /// the error lists the places that were searched.
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
    ///   - model: the model, which cannot be changed any more.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        storedName = name
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        mainContext.persistentStoreCoordinator = coordinator
        super.init()
        persistentStoreDescriptions = [
            NSPersistentStoreDescription(named: name, in: type(of: self).defaultDirectoryURL())
        ]
    }

    /// Creates a container of a session's stores.
    package convenience init(name: String, session: StoreSession) {
        self.init(name: name, managedObjectModel: session.model)
        coordinator.show(session)
    }

    /// The directory of stores whose descriptions name no other: `$XDG_DATA_HOME/<program>`, by default
    /// `~/.local/share/<program>`. It is created when a store is loaded there.
    open class func defaultDirectoryURL() -> URL { NSPersistentStoreDescription.defaultDirectory }

    /// Opens the stores of the descriptions; missing folders are created.
    ///
    /// - Parameter block: called once for each description, with the error if the store could not be opened: before
    ///   this method returns, or later for descriptions that request it.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            description.makeFolder()
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// A new context with a private queue.
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

/// Finds compiled models by name, in the main bundle and in the resource bundles that SwiftPM puts beside the program.
package enum ModelLocator {
    /// The URL of `<name>.momd`, or else of `<name>.mom`.
    package static func url(forModelNamed name: String) -> URL? {
        for directory in searchedDirectories() {
            for fileExtension in ["momd", "mom"] {
                let url = directory.appendingPathComponent("\(name).\(fileExtension)")
                if FileManager.default.fileExists(atPath: url.path) { return url }
            }
        }
        return nil
    }

    /// The directories that are searched, in order.
    package static func searchedDirectories() -> [URL] {
        var directories: [URL] = []
        for bundle in [Bundle.main] + Bundle.allBundles {
            if let url = bundle.resourceURL { directories.append(url) }
            directories.append(bundle.bundleURL)
        }
        var seen: Set<String> = []
        let bases = directories.filter { seen.insert($0.standardizedFileURL.path).inserted }
        let resources = bases.flatMap { base in
            ((try? FileManager.default.contentsOfDirectory(at: base, includingPropertiesForKeys: nil)) ?? [])
                .filter { ["resources", "bundle"].contains($0.pathExtension) }
                .sorted { $0.path < $1.path }
        }
        return bases + resources
    }
}

/// Lets extensions create coordinators with `Self(managedObjectModel:)`.
///
/// Swift only calls initializers of a class known at run time if they are `required`, except for classes imported from
/// Objective-C. This initializer cannot be `required`, since subclasses declare their own without that keyword; an
/// initializer of a protocol is used instead.
public protocol CoordinatorMaking {}

extension NSPersistentStoreCoordinator: CoordinatorMaking {}

extension CoordinatorMaking where Self: NSPersistentStoreCoordinator {
    /// Creates a coordinator for a model, which cannot be changed any more.
    ///
    /// Stops the program for a subclass, whose initializer is not known here.
    ///
    /// - Parameter model: a complete model; one with errors stops the program with a message that names them.
    public init(managedObjectModel model: NSManagedObjectModel) {
        guard let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model) as? Self else {
            programmerError("a \(Self.self) is made by naming the class: \(Self.self)(managedObjectModel:)")
        }
        self = coordinator
    }
}
