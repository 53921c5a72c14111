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

/// A section of a fetched results controller.
public protocol NSFetchedResultsSectionInfo {
    /// The section's name: the value under the controller's section name key path.
    var name: String { get }
    /// The title of the section in a list's index.
    var indexTitle: String? { get }
    /// The number of objects in the section.
    var numberOfObjects: Int { get }
    /// The objects of the section, in order.
    var objects: [Any]? { get }
}

/// A section of a controller's current results; it is empty once the section is deleted.
final class FetchedResultsSection: NSObject, NSFetchedResultsSectionInfo {
    private let results: FetchedResults
    private let number: Int
    let name: String
    /// Where the section was when this was made.
    private let formerIndex: Int

    init(_ results: FetchedResults, number: Int, name: String, index: Int) {
        self.results = results
        self.number = number
        self.name = name
        formerIndex = index
        super.init()
    }

    /// A section that a delegate received equals the one that the controller returns later.
    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? FetchedResultsSection else { return false }
        return results === other.results && number == other.number
    }

    override var hash: Int { number }

    private var index: Int? {
        guard let sections = results.list?.sections else { return nil }
        if sections.indices.contains(formerIndex), sections[formerIndex].number == number { return formerIndex }
        return sections.firstIndex { $0.number == number }
    }

    var indexTitle: String? { results.isSectioned ? results.indexTitle(forSectionName: name) : nil }

    var numberOfObjects: Int { index.flatMap { results.list?.sections[$0].count } ?? 0 }

    var objects: [Any]? { index.flatMap { results.list?.elements(inSection: $0).map(\.object) } ?? [] }
}

extension FetchedResults {
    /// Notifies the delegate of changes: by a snapshot if it takes one, otherwise by a difference, otherwise one by
    /// one.
    func notify(_ changes: ResultChanges<ResultItem>) {
        guard let delegate else { return }
        let controller = controller
        if delegateTakesSnapshots {
            let changed = changes.updates + changes.moves
            delegate.controller(controller, didChangeContentWith: snapshot(reloaded: changed.map(\.element)))
            if delegateTakesSnapshots { return }
        }
        if delegateTakesDifferences, !isSectioned, let difference = difference(changes) {
            delegate.controller(controller, didChangeContentWith: difference)
            if delegateTakesDifferences { return }
        }
        delegate.controllerWillChangeContent(controller)
        notifyOfObjects(changes.deletes, .delete, delegate, controller)
        notifyOfSections(changes.deletedSections, .delete, delegate, controller)
        notifyOfSections(changes.insertedSections, .insert, delegate, controller)
        notifyOfObjects(changes.inserts, .insert, delegate, controller)
        notifyOfObjects(changes.moves, .move, delegate, controller)
        notifyOfObjects(changes.updates, .update, delegate, controller)
        delegate.controllerDidChangeContent(controller)
    }

    private func notifyOfSections(
        _ changes: [ResultChanges<ResultItem>.SectionChange], _ type: NSFetchedResultsChangeType,
        _ delegate: any NSFetchedResultsControllerDelegate,
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
        for change in changes {
            let info = FetchedResultsSection(
                self, number: change.number, name: change.name, index: change.index)
            delegate.controller(controller, didChange: info, atSectionIndex: change.index, for: type)
        }
    }

    private func notifyOfObjects(
        _ changes: [ResultChanges<ResultItem>.ElementChange], _ type: NSFetchedResultsChangeType,
        _ delegate: any NSFetchedResultsControllerDelegate,
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
        for change in changes {
            delegate.controller(
                controller, didChange: change.element.object,
                at: change.old.map { IndexPath(item: $0.row, section: $0.section) }, for: type,
                newIndexPath: change.new.map { IndexPath(item: $0.row, section: $0.section) })
        }
    }

    /// All results as they are now.
    func snapshot(reloaded: [ResultItem]) -> NSDiffableDataSourceSnapshotReference {
        NSDiffableDataSourceSnapshotReference { [list] in
            guard let list else { return [] }
            return list.sections.indices.map { index in
                (list.sections[index].name, list.elements(inSection: index).compactMap(\.identifier))
            }
        } reloaded: {
            reloaded.compactMap(\.identifier)
        }
    }

    /// The changes of a list without sections, as a difference of IDs.
    private func difference(_ changes: ResultChanges<ResultItem>) -> CollectionDifference<NSManagedObjectID>? {
        var steps: [CollectionDifference<NSManagedObjectID>.Change] = []
        for change in changes.deletes + changes.inserts + changes.moves + changes.updates {
            guard let identifier = change.element.identifier else { continue }
            if let old = change.old {
                steps.append(.remove(offset: old.row, element: identifier, associatedWith: change.new?.row))
            }
            if let new = change.new {
                steps.append(.insert(offset: new.row, element: identifier, associatedWith: change.old?.row))
            }
        }
        return CollectionDifference(steps)
    }
}

extension ResultItem {
    /// The ID of a result that is an object, or the result itself if it is an ID.
    var identifier: NSManagedObjectID? { (object as? NSManagedObject)?.objectID ?? object as? NSManagedObjectID }
}
