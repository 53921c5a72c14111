import CoreData

/// The managed object of a model: its row in a context.
final class ModelObject: NSManagedObject {
    /// The state of the model that shows the object; nil while the program has none.
    weak var modelState: ModelState?

    override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        modelState?.objectDidChange(key)
    }
}
