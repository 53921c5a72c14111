import Foundation

/// What happened to an object or a section of a fetched results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// It came.
    case insert = 1
    /// It went.
    case delete = 2
    /// An object changed, and is at another place for it.
    case move = 3
    /// An object changed, and kept its place among the others.
    case update = 4
}

/// Hears of changes to the results of a controller.
///
/// Every method has an implementation, so implement those that you need. As with Core Data, a delegate that takes snapshots hears
/// of nothing else, and one that takes differences of nothing but these (as long as the controller has no sections).
///
/// Implement a method in the class that declares the conformance: Swift does not find one that only a subclass has.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// Tells what changed, as a snapshot of all sections (their names) and objects (their IDs). Called after each
    /// fetch and each change.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - snapshot: the names of all sections and the IDs of all objects, as they are now.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// Tells what changed, as a difference of the list of IDs. An object that changed and kept its place is removed and inserted there.
    /// Called for controllers without sections.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - diff: how the list of IDs became what it is now.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// Tells of one object.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - anObject: the object.
    ///   - indexPath: where it was before all the changes; `nil` for an insert.
    ///   - type: what happened.
    ///   - newIndexPath: where it is after all the changes; `nil` for a delete.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// Tells of one section.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - sectionInfo: the section; it has no objects any more when it was deleted.
    ///   - sectionIndex: where it was before all the changes, or where it is after them for an insert.
    ///   - type: `.insert` or `.delete`.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// Called before the delegate gets the changes of one event; the controller has the new results already.
    ///
    /// - Parameter controller: the controller.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// Called after the delegate got the changes of one event.
    ///
    /// - Parameter controller: the controller.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// Returns the title of a section for the index of a list. By default, what the controller's
    /// `sectionIndexTitle(forSectionName:)` says.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - sectionName: the name of the section.
    /// - Returns: the title; `nil` for none.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

// Core Data's protocol has optional methods, which Swift knows for Objective-C's protocols only. These implementations
// stand for methods that a delegate does not have; two of them say so, since having them silences the others.
extension NSFetchedResultsControllerDelegate {
    /// Notes that the delegate takes no snapshots.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - snapshot: not used.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { controller.results.delegateTakesSnapshots = false }

    /// Notes that the delegate takes no differences.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - diff: not used.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { controller.results.delegateTakesDifferences = false }

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - controller: not used.
    ///   - anObject: not used.
    ///   - indexPath: not used.
    ///   - type: not used.
    ///   - newIndexPath: not used.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - controller: not used.
    ///   - sectionInfo: not used.
    ///   - sectionIndex: not used.
    ///   - type: not used.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    /// Does nothing.
    ///
    /// - Parameter controller: not used.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Does nothing.
    ///
    /// - Parameter controller: not used.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Returns what the controller's `sectionIndexTitle(forSectionName:)` says.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - sectionName: the name of the section.
    /// - Returns: the title; `nil` for none.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { controller.sectionIndexTitle(forSectionName: sectionName) }
}
