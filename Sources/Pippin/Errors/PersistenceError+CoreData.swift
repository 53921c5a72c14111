import CoreData

// What Core Data says, as one of ours: with a code to decide by, and with Core Data's own error beside it.
extension PersistenceError {
    /// Runs what asks the store, so that its errors come as ``PersistenceError``.
    ///
    /// - Parameters:
    ///   - code: what an error of Core Data's means here.
    ///   - work: asks the store.
    /// - Returns: what `work` returns.
    /// - Throws: what `work` throws; an error of Core Data's or Foundation's is the ``underlying`` one of an error with the code.
    static func explaining<Result>(_ code: Code, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch { throw explained(error, code) }
    }

    /// An error as one of ours.
    ///
    /// - Parameters:
    ///   - error: an error.
    ///   - code: what it means here if it is Core Data's.
    /// - Returns: the error itself where it is one of ours, or not of Core Data.
    static func explained(_ error: any Error, _ code: Code) -> any Error {
        guard type(of: error) is NSError.Type || error is CocoaError else { return error }
        let cocoa = error as NSError
        guard cocoa.domain == NSCocoaErrorDomain else { return error }
        let path = (cocoa.userInfo[NSURLErrorKey] as? URL)?.path ?? cocoa.userInfo[NSFilePathErrorKey] as? String
        let advice = cocoa.localizedRecoverySuggestion.map { " \($0)" } ?? ""
        return PersistenceError(
            code, path: path, reason: cocoa.localizedFailureReason, underlying: error,
            cocoa.localizedDescription + advice)
    }
}
