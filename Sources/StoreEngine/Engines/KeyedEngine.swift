import CoreDataModel

/// An engine that numbers its rows, so that rows can be saved with their own keys.
package protocol KeyedEngine: StoreEngine {
    /// Reserves all keys up to a given one, so that new objects get other keys than objects that bring their own.
    func reserveKeys(upTo key: Int64, of root: EntityLayout) throws

    /// The highest key that was given out for an entity and those that inherit from it, also to objects that are gone.
    func lastKey(of root: EntityLayout) throws -> Int64
}
