// What a child context inserts, or inserts again, in its parent.
extension NSManagedObjectContext {
    /// Makes a fault a new object: it was requested by its ID before the child that made it saved.
    func insertFault(_ object: NSManagedObject) {
        rememberForUndo(object, existed: false)
        object.relations = []
        object.snapshot = []
        object.version = 0
        object.state.remove([.valuesPending, .inBatch, .lost, .inaccessible, .hollow])
        object.state.insert(.fault)
        // It is registered when it is listed.
        table.remove(object)
        enlist(object)
        object.awakeFromInsert()
    }

    /// Undoes the deletion of an object whose row is still there.
    func revive(_ object: NSManagedObject) {
        if object.state.isDisjoint(with: .anyEvent) {
            rememberForUndo(object)
            event.add(object)
        }
        object.state.insert(.updatedInEvent)
        object.state.remove([.deleted, .deletePropagated, .deletedInEvent])
        objectWillChange(object)
    }
}
