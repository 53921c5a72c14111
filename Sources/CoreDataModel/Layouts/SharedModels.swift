import Synchronization

/// The models that containers use, by the files that they were read from.
///
/// The compiled form of a model lives until the process ends. Without this cache, a program that makes one container
/// after the other, as a server with a store per customer does, would keep a model for each.
package enum SharedModels {
    private static let latest = Mutex<[String: NSManagedObjectModel]>([:])

    /// The model that was read from a file before, if it is equal.
    ///
    /// - Parameters:
    ///   - new: the model that was read from the file now, and that nobody else has.
    ///   - path: the file.
    /// - Returns: the model to use, which must not be changed any more.
    package static func model(_ new: NSManagedObjectModel, at path: String) -> NSManagedObjectModel {
        let known = latest.withLock { $0[path] }
        // A file may have been replaced, and a model made by a program may have been changed before it was used.
        if let known, known == new { return known }
        new.freeze()
        latest.withLock { $0[path] = new }
        return new
    }
}
