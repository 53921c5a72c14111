/// A fetch request of any type, which a context executes at once.
protocol ImmediateFetch {
    /// Fetches in a context.
    ///
    /// - Returns: the results, as those of an asynchronous fetch that has ended.
    /// - Throws: the errors of fetching.
    func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}
