extension NSPersistentStore {
    /// The class of the manager that migrates stores of this type object by object: `NSMigrationManager` for all of them.
    public class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }
}
