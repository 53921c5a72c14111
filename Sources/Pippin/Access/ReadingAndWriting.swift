import CoreData

extension PersistenceManager {
    /// Runs a block that changes things, and saves them: all of it, or nothing where the block throws.
    ///
    /// ```swift
    /// try await manager.write { access in
    ///     guard var book = try access.fetch(Book.self, uid: "emma") else { return }
    ///     book.price *= 2
    ///     try access.insertOrUpdate(book)
    /// }
    /// ```
    ///
    /// It is a transaction: everything that the block reads is of one state of the store, and that state is still current when the
    /// block is saved, also with other writers in this program or another one. Nobody waits for the block. When somebody else saves
    /// to the store while it runs, **the block runs again**, on the new state. So it should only read and change what it is given, and
    /// do nothing that must not happen twice. `onConflict: .fail` throws instead. A block that has run several times makes other
    /// programs wait until it is done; it throws when that does not help either, after 16 times.
    ///
    /// The block's own saves (`access.save()`, a batch request, a write within it) are stored at once, and stay. After such a save
    /// the block is not run again, and a conflict is thrown.
    ///
    /// A context of yours is not a transaction, since it may hold objects that were read long ago. Its merge policy settles conflicts
    /// object by object. A context that cannot be saved stays as it was before.
    ///
    /// - Parameters:
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    ///   - onConflict: what to do when others have saved in between. It does not matter where you give a context.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and Core Data's errors; ``SaveError`` with the code `NSManagedObjectMergeError` for a conflict
    ///   that is not to be, or cannot be, settled by running the block again.
    @discardableResult
    public func write<Result: Sendable>(
        context: NSManagedObjectContext? = nil, onConflict: WriteConflictPolicy = .retry,
        _ work: @escaping @Sendable (DataAccess) throws -> Result
    ) async throws -> Result {
        try await write(in: context, onConflict) { try work(DataAccess(manager: self, context: $0)) }
    }

    /// Runs a block that changes things, and saves them, as the `async` form does, and waits for it.
    ///
    /// - Parameters:
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    ///   - onConflict: what to do when others have saved in between. By default the block runs again.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the `async` form throws.
    @discardableResult
    public func write<Result>(
        context: NSManagedObjectContext? = nil, onConflict: WriteConflictPolicy = .retry,
        _ work: (DataAccess) throws -> Result
    ) throws -> Result {
        try write(in: context, onConflict) { try work(DataAccess(manager: self, context: $0)) }
    }

    /// Runs a block that changes things, and saves them, as the `async` form does.
    ///
    /// - Parameters:
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    ///   - onConflict: what to do when others have saved in between. By default the block runs again.
    ///   - work: runs on the context's queue.
    ///   - completion: called on the main thread, with what the block returned or the error.
    public func write<Result: Sendable>(
        context: NSManagedObjectContext? = nil, onConflict: WriteConflictPolicy = .retry,
        _ work: @escaping @Sendable (DataAccess) throws -> Result,
        completion: @escaping @MainActor @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        Task {
            do {
                let result = try await write(context: context, onConflict: onConflict, work)
                await completion(.success(result))
            } catch {
                await completion(.failure(error))
            }
        }
    }

    /// Runs a block that reads. Changes in a context of the manager's would not be saved, so they are an error.
    ///
    /// - Parameters:
    ///   - context: where to read, its unsaved changes included. Without one, a new worker.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and ``PersistenceError/changedInRead(entities:)``.
    public func read<Result: Sendable>(
        context: NSManagedObjectContext? = nil, _ work: @escaping @Sendable (DataAccess) throws -> Result
    ) async throws -> Result {
        try await read(in: context) { try self.reading($0, isCallers: context != nil, work) }
    }

    /// Runs a block that reads, and waits for it.
    ///
    /// - Parameters:
    ///   - context: where to read, its unsaved changes included. Without one, the thread's context.
    ///   - work: runs on the context's queue.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and ``PersistenceError/changedInRead(entities:)``.
    public func read<Result>(
        context: NSManagedObjectContext? = nil, _ work: (DataAccess) throws -> Result
    ) throws -> Result {
        try read(in: context) { try reading($0, isCallers: context != nil, work) }
    }

    /// Runs a block that reads. Changes in a context of the caller's are the caller's to save; in one of the manager's they are taken back,
    /// with an error, unless they were there before.
    private func reading<Result>(
        _ context: NSManagedObjectContext, isCallers: Bool, _ work: (DataAccess) throws -> Result
    ) throws -> Result {
        let hadChanges = context.hasChanges
        let result: Result
        do { result = try work(DataAccess(manager: self, context: context)) } catch {
            if !isCallers, !hadChanges { context.rollback() }
            throw error
        }
        guard !isCallers, !hadChanges, context.hasChanges else { return result }
        let changed = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
        let entities = Set(changed.compactMap(\.entity.name)).sorted()
        context.rollback()
        throw PersistenceError.changedInRead(entities: entities)
    }

    /// Runs a block that reads.
    ///
    /// - Parameters:
    ///   - context: where to read, its unsaved changes included. Without one, a new worker.
    ///   - work: runs on the context's queue.
    ///   - completion: called on the main thread, with what the block returned or the error.
    public func read<Result: Sendable>(
        context: NSManagedObjectContext? = nil, _ work: @escaping @Sendable (DataAccess) throws -> Result,
        completion: @escaping @MainActor @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        Task {
            do {
                let result = try await read(context: context, work)
                await completion(.success(result))
            } catch {
                await completion(.failure(error))
            }
        }
    }
}
