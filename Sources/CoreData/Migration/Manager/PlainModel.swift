/// A model for migrations: its objects are plain managed objects, since the classes that the application has now need not
/// fit an old version of the model, and must not act on objects that are only on their way.
enum PlainModel {
    static func make(of model: NSManagedObjectModel) -> NSManagedObjectModel {
        let plain = NSManagedObjectModel()
        plain.copyContents(of: model)
        for entity in plain.entities { entity.managedObjectClassName = "NSManagedObject" }
        return plain
    }
}
