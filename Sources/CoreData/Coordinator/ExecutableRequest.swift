/// A request that knows how to run itself on a coordinator's stores: all but fetches, which contexts run.
protocol ExecutableRequest: NSPersistentStoreRequest {
    /// Runs the request.
    ///
    /// - Returns: the result that belongs to the request.
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any
}
