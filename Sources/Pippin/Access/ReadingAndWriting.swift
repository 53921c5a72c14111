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
    /// No other write of this manager comes in between.
    ///
    /// - Parameter work: runs on the queue of a new worker.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and Core Data's errors.
    public func write<Result: Sendable>(
        _ work: @escaping @Sendable (DataAccess) throws -> Result
    ) async throws -> Result { try await write(in: nil) { try work(DataAccess(manager: self, context: $0)) } }

    /// Runs a block that changes things, and saves them, as the `async` form does, and waits for it.
    ///
    /// - Parameter work: runs on the queue of a new worker.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws, and Core Data's errors.
    public func write<Result>(_ work: (DataAccess) throws -> Result) throws -> Result {
        try write(in: nil) { try work(DataAccess(manager: self, context: $0)) }
    }

    /// Runs a block that changes things, and saves them, as the `async` form does.
    ///
    /// - Parameters:
    ///   - work: runs on the queue of a new worker.
    ///   - completion: called on the main thread, with what the block returned or the error.
    public func write<Result: Sendable>(
        _ work: @escaping @Sendable (DataAccess) throws -> Result,
        completion: @escaping @MainActor @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        Task {
            do {
                let result = try await write(work)
                await completion(.success(result))
            } catch {
                await completion(.failure(error))
            }
        }
    }

    /// Runs a block that reads. What it changes is not saved.
    ///
    /// - Parameter work: runs on the queue of a new worker.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func read<Result: Sendable>(
        _ work: @escaping @Sendable (DataAccess) throws -> Result
    ) async throws -> Result { try await read(in: nil) { try work(DataAccess(manager: self, context: $0)) } }

    /// Runs a block that reads, and waits for it.
    ///
    /// - Parameter work: runs on the queue of the thread's context.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func read<Result>(_ work: (DataAccess) throws -> Result) throws -> Result {
        try read(in: nil) { try work(DataAccess(manager: self, context: $0)) }
    }

    /// Runs a block that reads.
    ///
    /// - Parameters:
    ///   - work: runs on the queue of a new worker.
    ///   - completion: called on the main thread, with what the block returned or the error.
    public func read<Result: Sendable>(
        _ work: @escaping @Sendable (DataAccess) throws -> Result,
        completion: @escaping @MainActor @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        Task {
            do {
                let result = try await read(work)
                await completion(.success(result))
            } catch {
                await completion(.failure(error))
            }
        }
    }
}
