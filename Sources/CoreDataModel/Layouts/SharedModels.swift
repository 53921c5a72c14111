import Synchronization

/// The models that containers have put to use, by the files that they came from.
///
/// The compiled form of a model lives until the process ends. A program that makes one container after the other, as a server does that
/// has a store for each customer, would keep one for each.
package enum SharedModels {
    private static let latest = Mutex<[String: NSManagedObjectModel]>([:])

    /// The model that was read from a file before, where it says the same.
    ///
    /// - Parameters:
    ///   - new: what was read from the file now, and nobody else has.
    ///   - path: the file.
    /// - Returns: the model to use, which is changed no more.
    package static func model(_ new: NSManagedObjectModel, at path: String) -> NSManagedObjectModel {
        let known = latest.withLock { $0[path] }
        // A file may have been replaced, and a model of a program's own making changed before it was used.
        if let known, known == new { return known }
        new.freeze()
        latest.withLock { $0[path] = new }
        return new
    }
}
