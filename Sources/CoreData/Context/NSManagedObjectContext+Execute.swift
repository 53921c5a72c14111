import Foundation
import Ordering
import StoreSession

extension NSManagedObjectContext {
    func run(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        if let fetch = request as? any ImmediateFetch { return try fetch.result(in: self) }
        guard let source = persistentStoreCoordinator else {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The context has no coordinator, so there is nothing to run a request on.")
        }
        let result = try source.session.working(in: transaction) { try source.execute(request, with: self) }
        if let result = result as? NSPersistentStoreResult { return result }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreUnsupportedRequestType,
            "A request of type \(type(of: request)) has no result that execute(_:) could return; save with save().")
    }

    /// The author of a request's changes for the history: the context that has the coordinator, to which a child passes
    /// its requests.
    ///
    /// - Throws: nothing of its own; a parent is asked on its queue.
    func changeOrigin() throws -> ChangeOrigin {
        if let parent { return try parent.onQueue { try $0.changeOrigin() } }
        return ChangeOrigin(contextName: name, author: transactionAuthor)
    }

    /// The entity with a name in the context's model.
    ///
    /// - Parameters:
    ///   - name: the entity's name.
    ///   - what: what needs the entity, for the error.
    /// - Returns: the entity.
    /// - Throws: an error if the model has no such entity.
    func entity(named name: String, for what: String) throws -> EntityLayout {
        if let layout = entityLayout(named: name) { return layout }
        let known = modelLayout?.entityByName.keys.sorted().joined(separator: ", ") ?? "no entities"
        throw StoreError.make(
            CoreDataErrorCode.coreData, "\(what) names the entity “\(name)”; the context's model has \(known).")
    }
}
