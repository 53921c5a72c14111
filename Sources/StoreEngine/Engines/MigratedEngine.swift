/// An engine whose stores are migrated in place.
package protocol MigratedEngine: StoreEngine {
    /// Removes one table or column whose removal a migration deferred.
    ///
    /// - Returns: whether there was one.
    func finishDeferredTask() throws -> Bool
}
