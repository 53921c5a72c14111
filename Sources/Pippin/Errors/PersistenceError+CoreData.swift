import CompactCollections
import StoreSession

// Core Data's errors as `PersistenceError`: with a code to decide by, and with Core Data's own error attached.
extension PersistenceError {
    /// Runs work that uses the store, and turns its errors into ``PersistenceError``.
    ///
    /// - Parameters:
    ///   - code: the code for an error of Core Data's.
    ///   - work: uses the store.
    /// - Returns: what `work` returns.
    /// - Throws: what `work` throws. An error of Core Data's or Foundation's becomes the ``underlying`` error of one
    ///   with the code.
    static func explaining<Result>(_ code: Code, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch { throw explained(error, code) }
    }

    /// The error of a store that cannot be destroyed, which names those that are destroyed already.
    static func explained(_ error: any Error, destroyed names: [String]) -> any Error {
        let explained = explained(error, .notOpened)
        guard !names.isEmpty else { return explained }
        let known = explained as? PersistenceError
        let list = names.map { "“\($0)”" }.joined(separator: ", ")
        return PersistenceError(
            .notOpened, path: known?.path, reason: known?.reason, underlying: known?.underlying ?? error,
            "\(known?.description ?? (error as NSError).localizedDescription) What was saved in \(list) is destroyed already."
        )
    }

    /// An error as a `PersistenceError`.
    ///
    /// - Parameters:
    ///   - error: an error.
    ///   - code: the code for it, if it is Core Data's.
    /// - Returns: the error itself if it is a `PersistenceError` already, or is not Core Data's.
    static func explained(_ error: any Error, _ code: Code) -> any Error {
        guard type(of: error) is NSError.Type || error is CocoaError else { return error }
        let cocoa = error as NSError
        guard cocoa.domain == NSCocoaErrorDomain else { return error }
        let path = (cocoa.userInfo[NSURLErrorKey] as? URL)?.path ?? cocoa.userInfo[NSFilePathErrorKey] as? String
        let isMigratedMeanwhile =
            cocoa.code == NSPersistentStoreIncompatibleVersionHashError && code != .notOpened
        let advice =
            isMigratedMeanwhile
            ? " Close this manager, and open the store by a new one, with the structs of the program that "
                + "has migrated it."
            : cocoa.localizedRecoverySuggestion.map { " \($0)" } ?? ""
        return PersistenceError(
            code, path: path, reason: cocoa.localizedFailureReason, underlying: error,
            cocoa.localizedDescription + advice)
    }
}
