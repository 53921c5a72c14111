/// The changes of a context since a moment, so that they can be taken back without disturbing the undo manager.
///
/// ```swift
/// let record = context.beginRecord()
/// do { try work() } catch { context.takeBack(record) }
/// context.end(record)
/// ```
package final class WorkRecord {
    /// The changes of each event, the latest last.
    fileprivate(set) var steps: [[ObjectMemento]] = []
    /// The changes that could be undone at the beginning.
    fileprivate var undoable: UndoManager.Content?
    fileprivate let outer: WorkRecord?

    fileprivate init(within outer: WorkRecord?) { self.outer = outer }

    func add(_ step: [ObjectMemento]) { steps.append(step) }
}

extension NSManagedObjectContext {
    /// Begins to record changes. Records are nested: the one that was begun last is ended first.
    ///
    /// - Returns: the record.
    package func beginRecord() -> WorkRecord {
        processPendingChanges()
        let record = WorkRecord(within: workRecord)
        record.undoable = undoManager?.content
        workRecord = record
        return record
    }

    /// Takes back what has changed since the record was begun, or since the last save, rollback or reset.
    ///
    /// - Parameter record: the latest record.
    package func takeBack(_ record: WorkRecord) {
        processPendingChanges()
        workRecord = nil
        undoManager?.disableUndoRegistration()
        for step in record.steps.reversed() { restore(step) }
        undoManager?.enableUndoRegistration()
        record.steps = []
        if let undoable = record.undoable { undoManager?.content = undoable }
        workRecord = record
    }

    /// Ends the recording; the changes stay.
    ///
    /// - Parameter record: the latest record.
    package func end(_ record: WorkRecord) {
        processPendingChanges()
        workRecord = record.outer
        record.outer?.steps += record.steps
    }

    /// Begins all records anew, since what was saved or discarded is not taken back.
    func restartRecords() {
        var next = workRecord
        while let record = next {
            record.steps = []
            record.undoable = undoManager?.content
            next = record.outer
        }
    }
}
