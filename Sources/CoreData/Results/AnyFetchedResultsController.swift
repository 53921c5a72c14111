import Foundation

/// A fetched results controller of any result type: what shows results, and is told from others by them.
///
/// Controllers of all types are of this class, which has no type parameter, so that `===` can be asked of two of them. Make an
/// `NSFetchedResultsController`.
open class AnyFetchedResultsController: NSObject {
    let results: FetchedResults

    init(_ results: FetchedResults) { self.results = results }

    /// Controllers are equal when they show the same results: the one you made, and the one that delegates are handed.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a controller with the same results.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? AnyFetchedResultsController)?.results === results
    }

    /// A hash of the results' identity.
    open override var hash: Int { ObjectIdentifier(results).hashValue }
}

/// Whether two controllers show the same results: the one that a delegate is handed is the one you made, so that
///
///     if controller === booksController { … }
///
/// says in a delegate's method what it says with Core Data, where the same object is handed to it.
///
/// - Parameters:
///   - first: a controller, or `nil`.
///   - second: another one, also of other results.
/// - Returns: `true` for the same results, and for `nil` twice.
public func === (first: AnyFetchedResultsController?, second: AnyFetchedResultsController?) -> Bool {
    first?.results === second?.results
}

/// Whether two controllers show different results: the opposite of `===`.
///
/// - Parameters:
///   - first: a controller, or `nil`.
///   - second: another one, also of other results.
/// - Returns: `false` for the same results, and for `nil` twice.
public func !== (first: AnyFetchedResultsController?, second: AnyFetchedResultsController?) -> Bool {
    first?.results !== second?.results
}
