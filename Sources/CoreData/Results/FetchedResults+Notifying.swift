import Foundation

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
