/// A context's work on a save.
struct SaveState {
    /// Whether a save is under way.
    private(set) var isActive = false
    /// Whether saves validate their changes; see `savePortion()`.
    var validates = true
    /// New objects that were replaced by others with the same unique values, or whose rows are gone.
    var replaced: [NSManagedObject] = []
    /// The sets of objects in the save's notifications.
    var posted = PostedObjects()
    /// The contexts that merge what was saved once the save is over.
    var waitingMergers: [NSManagedObjectContext] = []

    /// Begins a save.
    ///
    /// - Returns: the former state, for `end(_:)`: an observer of a save may save again.
    mutating func begin() -> SaveState {
        let former = self
        if isActive { (replaced, posted) = ([], PostedObjects()) }
        isActive = true
        return former
    }

    /// Ends a save. The contexts that merge it still wait.
    mutating func end(_ former: SaveState) {
        isActive = former.isActive
        replaced = isActive ? former.replaced : []
        posted = isActive ? former.posted : PostedObjects()
    }

    /// Removes and returns the contexts that wait for the end of the save.
    mutating func takeMergers() -> [NSManagedObjectContext] {
        let mergers = waitingMergers
        waitingMergers = []
        return mergers
    }
}
