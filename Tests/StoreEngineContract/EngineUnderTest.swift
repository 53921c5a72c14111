import CoreDataModel
import StoreEngine

/// What the contract needs of an engine: a way to make one, and to come back to what it stored. Everything else is
/// asked of `StoreEngine`.
package protocol EngineUnderTest {
    /// Makes an empty store of a model's entities, and opens it.
    func makeEngine(for model: NSManagedObjectModel) throws -> any StoreEngine

    /// Closes a store and opens it again; a store that does not outlive that stays as it is.
    func reopen(_ engine: any StoreEngine, for model: NSManagedObjectModel) throws -> any StoreEngine

    /// Closes a store for good, and removes what it left.
    func discard(_ engine: any StoreEngine)
}
