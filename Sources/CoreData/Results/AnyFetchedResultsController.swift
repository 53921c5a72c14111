import Foundation

/// A fetched results controller of any result type. Two controllers are equal if they show the same results.
///
/// Controllers of all types inherit from this class, which has no type parameter, so that `===` can compare any two of
/// them. Make an `NSFetchedResultsController`.
open class AnyFetchedResultsController: NSObject {
    let results: FetchedResults

    init(_ results: FetchedResults) { self.results = results }

    /// Controllers are equal if they show the same results, as do the one that you made and the one that delegates
    /// receive.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but a controller with the same results.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? AnyFetchedResultsController)?.results === results
    }

    /// A hash of the results' identity.
    open override var hash: Int { ObjectIdentifier(results).hashValue }
}

/// Whether two controllers show the same results. A delegate receives a controller that shows the same results as
/// yours, so that
///
///     if controller === booksController { … }
///
/// has the same meaning in a delegate's method as with Core Data, where the delegate receives that very object.
///
/// - Parameters:
///   - first: a controller, or `nil`.
///   - second: another one, possibly of another result type.
/// - Returns: `true` for the same results, and if both are `nil`.
public func === (first: AnyFetchedResultsController?, second: AnyFetchedResultsController?) -> Bool {
    first?.results === second?.results
}

/// Whether two controllers show different results: the opposite of `===`.
///
/// - Parameters:
///   - first: a controller, or `nil`.
///   - second: another one, possibly of another result type.
/// - Returns: `false` for the same results, and if both are `nil`.
public func !== (first: AnyFetchedResultsController?, second: AnyFetchedResultsController?) -> Bool {
    first?.results !== second?.results
}
