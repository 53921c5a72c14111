/// Lets extensions create coordinators with `Self(managedObjectModel:)`.
///
/// Swift only calls initializers of a class known at run time if they are `required`, except for classes imported from
/// Objective-C. This initializer cannot be `required`, since subclasses declare their own without that keyword; an
/// initializer of a protocol is used instead.
public protocol CoordinatorMaking {}

extension NSPersistentStoreCoordinator: CoordinatorMaking {}

extension CoordinatorMaking where Self: NSPersistentStoreCoordinator {
    /// Creates a coordinator for a model, which cannot be changed any more.
    ///
    /// Stops the program for a subclass, whose initializer is not known here.
    ///
    /// - Parameter model: a complete model; one with errors stops the program with a message that names them.
    public init(managedObjectModel model: NSManagedObjectModel) {
        guard let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model) as? Self else {
            programmerError("a \(Self.self) is made by naming the class: \(Self.self)(managedObjectModel:)")
        }
        self = coordinator
    }
}
