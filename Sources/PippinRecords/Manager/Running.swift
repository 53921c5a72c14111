import CoreData
import Pippin

// Runs operations in the caller's context if there is one, otherwise in one of the manager's.
extension PersistenceManager {
    func reading<Result>(
        in context: NSManagedObjectContext?, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        try openIfNeeded()
        let context = context ?? contextForThread()
        return try context.performAndWait { try work(context) }
    }

    func reading<Result: Sendable>(
        in context: NSManagedObjectContext?, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await openIfNeeded()
        // Tasks move between threads, so a thread's context is of no use to them.
        return try await perform(in: context ?? makeWorker(), work)
    }

    func writing<Result>(
        in context: NSManagedObjectContext?, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        _ = Self.usesObjects
        guard let context else { return try inSavedTransaction { try work($0.context()) } }
        try openIfNeeded()
        return try context.performAndWait { try saveOrRestore(context, work) }
    }

    func writing<Result: Sendable>(
        in context: NSManagedObjectContext?, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        _ = Self.usesObjects
        guard let context else { return try await inSavedTransaction { try work($0.context()) } }
        try await openIfNeeded()
        return try await perform(in: context) { try self.saveOrRestore($0, work) }
    }

    func saving<Result>(
        _ context: NSManagedObjectContext, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let result = try work(context)
        try save(context)
        return result
    }

    /// Runs work on a context's queue.
    func perform<Result: Sendable>(
        in context: NSManagedObjectContext, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            context.perform { continuation.resume(with: Swift.Result { try work(context) }) }
        }
    }

    /// Does work in a context of the caller's and saves it. If that fails, the context is as it was before.
    private func saveOrRestore<Result>(
        _ context: NSManagedObjectContext, _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let former = FormerChanges(of: context)
        do {
            let result = try saving(context, work)
            former.forget()
            return result
        } catch {
            former.restore()
            throw error
        }
    }

    /// Calls a completion handler on the main thread.
    func tell<Value: Sendable>(
        _ completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void,
        _ work: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            do {
                let value = try await work()
                await completion(.success(value))
            } catch {
                await completion(.failure(error))
            }
        }
    }
}

/// The unsaved changes that a caller's context had before some work, and what could be undone, so that failed work can
/// be taken back without losing them. For use on the context's queue.
final class FormerChanges {
    private let context: NSManagedObjectContext
    /// Records the work; nil for a context without changes and without an undo manager, of which a rollback leaves
    /// nothing.
    private let record: WorkRecord?

    init(of context: NSManagedObjectContext) {
        self.context = context
        record = context.hasChanges || context.undoManager != nil ? context.beginRecord() : nil
    }

    /// Ends the recording; the changes of the work stay.
    func forget() {
        if let record { context.end(record) }
    }

    /// Takes back the changes since, other than those that the work has saved itself.
    func restore() {
        guard let record else { return context.rollback() }
        context.takeBack(record)
        context.end(record)
    }
}

// Managers for your own model files.
extension PersistenceManager {
    /// A manager for a compiled model in a bundle.
    ///
    /// If the model is missing, `load()` throws.
    ///
    /// - Parameters:
    ///   - modelName: the name of the `.momd` or `.mom` without its extension; also the manager's.
    ///   - bundle: the bundle with the model; `.module` in a package's target.
    ///   - mergePolicy: how a save settles conflicts. By default, the saved changes win, property by property.
    ///   - store: where the objects are kept.
    public convenience init(
        modelName: String, bundle: Bundle = .main, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        _ = Self.usesObjects
        self.init(
            .named(modelName, in: bundle), name: modelName, mergePolicy: ObjectMergePolicy(mergePolicy), store: store)
    }

    /// A manager for a compiled model at a URL of your own.
    ///
    /// - Parameters:
    ///   - modelURL: a `.momd` folder or a `.mom` file. Its name without the extension is the manager's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        modelURL: URL, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump, store: StoreLocation = .standard
    ) {
        _ = Self.usesObjects
        let name = modelURL.deletingPathExtension().lastPathComponent
        self.init(.file(modelURL), name: name, mergePolicy: ObjectMergePolicy(mergePolicy), store: store)
    }

    /// A manager for a compiled model in the bundle with that identifier.
    ///
    /// - Parameters:
    ///   - bundleIdentifier: the identifier of a loaded bundle, such as a framework's.
    ///   - modelName: the name of the `.momd` or `.mom` without its extension.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        bundleIdentifier: String, modelName: String, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        _ = Self.usesObjects
        let source = ModelSource.namedInBundle(modelName, identifier: bundleIdentifier)
        self.init(source, name: modelName, mergePolicy: ObjectMergePolicy(mergePolicy), store: store)
    }

    /// A manager for a model that was built in code.
    ///
    /// - Parameters:
    ///   - model: the model. It cannot be changed once the manager is loaded.
    ///   - name: the manager's name, and the default store's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        model: NSManagedObjectModel, name: String, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        _ = Self.usesObjects
        self.init(.built(model), name: name, mergePolicy: ObjectMergePolicy(mergePolicy), store: store)
    }

    /// How a save settles conflicts, in every context that the manager hands out.
    public var mergePolicy: NSMergePolicy { mergePolicyOfObjects.policy }
}
