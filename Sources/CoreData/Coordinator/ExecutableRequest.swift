/// A request that can run itself on a coordinator's stores: all requests except fetches, which contexts run.
protocol ExecutableRequest: NSPersistentStoreRequest {
    /// Runs the request.
    ///
    /// - Returns: the request's result.
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any
}
