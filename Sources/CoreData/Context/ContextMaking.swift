/// Lets extensions create contexts with `Self(concurrencyType:)`, as ``CoordinatorMaking`` does for coordinators.
public protocol ContextMaking {}

extension NSManagedObjectContext: ContextMaking {}

extension ContextMaking where Self: NSManagedObjectContext {
    /// Creates a context.
    ///
    /// Stops the program for a subclass, whose initializer is not known here.
    ///
    /// - Parameter type: the queue to which the context is confined.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        guard let context = NSManagedObjectContext(concurrencyType: type) as? Self else {
            programmerError("a \(Self.self) is made by naming the class: \(Self.self)(concurrencyType:)")
        }
        self = context
    }
}
