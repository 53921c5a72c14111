/// A model for migrations. Its objects are plain managed objects, since the application's present classes need not fit
/// an old version of the model, and must not act on objects in the middle of a migration.
enum PlainModel {
    static func make(of model: NSManagedObjectModel) -> NSManagedObjectModel {
        let plain = NSManagedObjectModel()
        plain.copyContents(of: model)
        for entity in plain.entities { entity.managedObjectClassName = "NSManagedObject" }
        return plain
    }
}
