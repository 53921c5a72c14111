import CoreData

// For callers that are not asynchronous and do not wait.
extension PersistenceManager {
    /// The models that a request describes.
    ///
    /// ```swift
    /// manager.fetch(ModelRequest(Review.self).filter(\.book == Reference(book))) { result in show(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - context: where to read, its unsaved changes included; without one, the store.
    ///   - completion: called on the main thread, with the models or the error.
    public func fetch<Model: CoreModel & Codable & Sendable>(
        _ request: ModelRequest<Model>, context: NSManagedObjectContext? = nil,
        completion: @escaping @MainActor @Sendable (Result<[Model], any Error>) -> Void
    ) { tell(completion) { try await $0.fetch(request, context: context) } }

    /// Saves models, each with the models in it.
    ///
    /// - Parameters:
    ///   - models: the models.
    ///   - shouldOverwrite: true for models that are all there is: others of their type are deleted.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    ///   - completion: called on the main thread, with the error if there was one.
    public func save<Model: CoreModel & Codable & Sendable>(
        _ models: [Model], shouldOverwrite: Bool = false, context: NSManagedObjectContext? = nil,
        completion: @escaping @MainActor @Sendable (Result<Void, any Error>) -> Void
    ) { tell(completion) { try await $0.save(models, shouldOverwrite: shouldOverwrite, context: context) } }

    /// Deletes models, and what belongs to them.
    ///
    /// - Parameters:
    ///   - models: the models; only their identifiers matter.
    ///   - context: where to work. The save takes its other changes along. Without one, a new worker.
    ///   - completion: called on the main thread, with how many of these models were deleted, or the error.
    public func delete<Model: CoreModel & Codable & Sendable>(
        _ models: [Model], context: NSManagedObjectContext? = nil,
        completion: @escaping @MainActor @Sendable (Result<Int, any Error>) -> Void
    ) { tell(completion) { try await $0.delete(models, context: context) } }

    private func tell<Value: Sendable>(
        _ completion: @escaping @MainActor @Sendable (Result<Value, any Error>) -> Void,
        _ work: @escaping @Sendable (PersistenceManager) async throws -> Value
    ) {
        Task {
            do {
                let value = try await work(self)
                await completion(.success(value))
            } catch {
                await completion(.failure(error))
            }
        }
    }
}
