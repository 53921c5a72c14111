/// Lets extensions make coordinators by `Self(managedObjectModel:)`.
///
/// Swift calls initializers of a class that is only known at run time when they are `required`, and makes an exception for
/// classes that come from Objective-C. This one cannot be `required`, since subclasses declare their own without saying so;
/// an initializer of a protocol is found instead.
public protocol CoordinatorMaking {}

extension NSPersistentStoreCoordinator: CoordinatorMaking {}

extension CoordinatorMaking where Self: NSPersistentStoreCoordinator {
    /// Creates a coordinator for a model, which can be changed no more.
    ///
    /// Stops the program for a subclass, whose initializer is not known here.
    ///
    /// - Parameter model: a complete model; one with mistakes stops the program with a message that names them.
    public init(managedObjectModel model: NSManagedObjectModel) {
        guard let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model) as? Self else {
            programmerError("a \(Self.self) is made by naming the class: \(Self.self)(managedObjectModel:)")
        }
        self = coordinator
    }
}
