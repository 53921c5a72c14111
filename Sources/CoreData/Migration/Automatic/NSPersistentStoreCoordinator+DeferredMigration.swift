// Lightweight migration whose cleaning up may wait.
extension NSPersistentStoreCoordinator {
    /// Finishes what a lightweight migration left for later.
    ///
    /// Here a migration in place leaves nothing for later: one transaction does all of it, so there is nothing to finish,
    /// and `NSPersistentStoreDeferredLightweightMigrationOptionKey` makes no difference.
    public func finishDeferredLightweightMigration() throws {}

    /// Finishes one piece of what a lightweight migration left for later; there is never any, as
    /// ``finishDeferredLightweightMigration()`` says.
    public func finishDeferredLightweightMigrationTask() throws {}
}
