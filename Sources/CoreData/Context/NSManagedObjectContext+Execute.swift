import Foundation

extension NSManagedObjectContext {
    /// Runs a request that is not a fetch.
    ///
    /// - Parameter request: an `NSBatchDeleteRequest`.
    /// - Returns: the result that belongs to the request.
    /// - Throws: `NSPersistentStoreUnsupportedRequestTypeError` for a request that no store knows, and the errors of
    ///   the stores.
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        guard let source = persistentStoreCoordinator else {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The context has no coordinator, so there is nothing to run a request on.")
        }
        guard let deletion = request as? NSBatchDeleteRequest else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreUnsupportedRequestType,
                "The stores do not know requests of type \(type(of: request)).")
        }
        guard deletion.fetchRequest.entityName != nil else { return deletion.result(of: []) }
        let layout = try entity(of: deletion.fetchRequest)
        let plan = plan(for: deletion.fetchRequest, layout)
        let deleted = try source.deleteRows(
            plan, stores: deletion.affectedStores ?? deletion.fetchRequest.affectedStores, contextName: name,
            author: transactionAuthor)
        return deletion.result(of: deleted)
    }
}

extension NSBatchDeleteRequest {
    fileprivate func result(of deleted: [NSManagedObjectID]) -> NSBatchDeleteResult {
        let result: Any =
            switch resultType {
            case .resultTypeStatusOnly: true
            case .resultTypeObjectIDs: deleted
            case .resultTypeCount: deleted.count
            }
        return NSBatchDeleteResult(result: result, resultType: resultType)
    }
}
