import Foundation

/// The kind of change of an object or a section in a fetched results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// It was inserted.
    case insert = 1
    /// It was deleted.
    case delete = 2
    /// An object changed, and has moved because of that.
    case move = 3
    /// An object changed, and kept its position among the others.
    case update = 4
}

/// Is notified of changes to the results of a controller.
///
/// Every method has a default implementation, so implement those that you need. As with Core Data, a delegate that
/// takes snapshots gets no other notifications, and one that takes differences gets only these (if the controller has
/// no sections).
///
/// Implement a method in the class that declares the conformance: Swift does not find one that only a subclass has.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
    /// Reports changes as a snapshot of all sections (their names) and objects (their IDs). Called after each fetch and
    /// each change.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - snapshot: the names of all sections and the IDs of all objects, as they are now.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// Reports changes as a difference of the list of IDs. An object that changed and kept its position is removed and
    /// inserted there. Called for controllers without sections.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - diff: the difference from the former list of IDs.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// Reports the change of one object.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - anObject: the object.
    ///   - indexPath: its place before all the changes; `nil` for an insertion.
    ///   - type: the kind of change.
    ///   - newIndexPath: its place after all the changes; `nil` for a deletion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// Reports the change of one section.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - sectionInfo: the section; if it was deleted, it has no objects any more.
    ///   - sectionIndex: its index before all the changes, or after them for an insertion.
    ///   - type: `.insert` or `.delete`.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// Called before the changes of one event are reported; the controller already has the new results.
    ///
    /// - Parameter controller: the controller.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// Called after the changes of one event were reported.
    ///
    /// - Parameter controller: the controller.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// Returns the title of a section in a list's index. By default, the result of the controller's
    /// `sectionIndexTitle(forSectionName:)`.
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

// Core Data's protocol has optional methods, which Swift only supports in Objective-C protocols. These implementations
// stand for methods that a delegate does not have. Two of them record that, since a delegate that has these methods
// gets no other notifications.
extension NSFetchedResultsControllerDelegate {
    /// Records that the delegate takes no snapshots.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - snapshot: not used.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { controller.results.delegateTakesSnapshots = false }

    /// Records that the delegate takes no differences.
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

    /// Returns the result of the controller's `sectionIndexTitle(forSectionName:)`.
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
