import Pippin

extension PersistenceManager {
    /// Opens the store and waits, for tests that make one in an initializer.
    func loadAndWait(migratingBy plan: MigrationPlan? = nil) throws { try openExplicitly(plan, nil) }
}
