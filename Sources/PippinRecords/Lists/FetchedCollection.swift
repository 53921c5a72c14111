import CoreData
import Pippin

/// The records of a fetch in sections, kept up to date. It wraps a fetched results controller as a collection.
///
/// ```swift
/// let people = try FetchedCollection<PersonRecord>(
///     in: manager.mainContext, sortDescriptors: [NSSortDescriptor(key: "name", ascending: true)], sectionedBy: "initial")
/// people.onChange = { changes in table.apply(changes) }
/// people[IndexPath(indexes: [0, 2])]
/// ```
///
/// For use on the context's queue. The manager's `observe` does the same for structs, on any thread.
public final class FetchedCollection<Record: NSManagedObject>: RandomAccessCollection {
    /// Called on the context's queue after each event that changed the records, with the changes for a list view.
    public var onChange: ((ListChanges) -> Void)?

    private let controller: NSFetchedResultsController<Record>
    private let listener = FetchedResultsListener()

    /// Fetches records, and keeps them up to date from then on.
    ///
    /// - Parameters:
    ///   - context: the context to fetch in.
    ///   - predicate: the condition; nil for all records.
    ///   - sortDescriptors: the order, at least one. The first ones must keep the records of a section together.
    ///   - sectionKeyPath: the key path of a record's section name; nil for a single section.
    /// - Throws: ``PersistenceError`` if the context's model has no entity for the class, and Core Data's errors.
    public init(
        in context: NSManagedObjectContext, where predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor],
        sectionedBy sectionKeyPath: String? = nil
    ) throws {
        let request = NSFetchRequest<Record>(entityName: try Record.entity(in: context).name ?? "")
        request.predicate = predicate
        request.sortDescriptors = sortDescriptors
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sectionKeyPath, cacheName: nil)
        controller.delegate = listener
        try controller.performFetch()
        listener.onChange = { [weak self] in self?.onChange?($0) }
    }

    /// The sections' names, in order.
    public var sectionNames: [String] { (controller.sections ?? []).map(\.name) }

    /// The number of records in a section.
    ///
    /// - Parameter section: the section's index, from 0.
    /// - Returns: the number.
    public func count(inSection section: Int) -> Int { controller.sections?[section].numberOfObjects ?? 0 }

    /// The record at a place: a section's index and a row's.
    ///
    /// - Parameter indexPath: the place, in an existing section.
    /// - Returns: the record.
    public subscript(indexPath: IndexPath) -> Record { controller.object(at: indexPath) }

    /// The place of a record.
    ///
    /// - Parameter record: the record.
    /// - Returns: the section's index and the row's; nil if the record is not among these.
    public func indexPath(of record: Record) -> IndexPath? { controller.indexPath(forObject: record) }

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of records.
    public var endIndex: Int { controller.fetchedObjects?.count ?? 0 }

    /// The record at an index, counted across all sections.
    ///
    /// - Parameter position: the index, from 0.
    /// - Returns: the record.
    public subscript(position: Int) -> Record {
        let objects = controller.fetchedObjects ?? []
        return objects[position]
    }
}

/// Collects the changes that a fetched results controller reports one by one.
private final class FetchedResultsListener: NSObject, NSFetchedResultsControllerDelegate {
    var onChange: ((ListChanges) -> Void)?
    private var changes = ListChanges()

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        changes = ListChanges()
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        if case .insert = type { changes.insertedSections.insert(sectionIndex) }
        if case .delete = type { changes.removedSections.insert(sectionIndex) }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        switch (indexPath, newIndexPath) {
        case (nil, let new?): changes.insertions.append(new)
        case (let old?, nil): changes.removals.append(old)
        case (let old?, let new?):
            // A moved record has changed as well; any other changed in place.
            if case .move = type { changes.moves.append(ListChanges.Move(from: old, to: new)) }
            changes.updates.append(new)
        case (let old?, _): changes.updates.append(old)
        case (nil, nil): break
        }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        // Rows of sections that are inserted or removed are not listed one by one.
        let (removed, inserted) = (changes.removedSections, changes.insertedSections)
        // Of a row that moves between such a section and another one, the other end is left.
        for move in changes.moves {
            let (leaves, comes) = (removed.contains(move.from[0]), inserted.contains(move.to[0]))
            if leaves != comes { leaves ? changes.insertions.append(move.to) : changes.removals.append(move.from) }
            if leaves, !comes { changes.updates.removeAll { $0 == move.to } }
        }
        changes.moves.removeAll { removed.contains($0.from[0]) || inserted.contains($0.to[0]) }
        changes.removals.removeAll { removed.contains($0[0]) }
        changes.insertions.removeAll { inserted.contains($0[0]) }
        changes.updates.removeAll { inserted.contains($0[0]) }
        if !changes.isEmpty { onChange?(changes) }
    }
}
