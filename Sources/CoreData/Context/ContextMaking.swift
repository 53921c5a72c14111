/// Lets extensions make contexts by `Self(concurrencyType:)`, as ``CoordinatorMaking`` does coordinators.
public protocol ContextMaking {}

extension NSManagedObjectContext: ContextMaking {}

extension ContextMaking where Self: NSManagedObjectContext {
    /// Creates a context.
    ///
    /// Stops the program for a subclass, whose initializer is not known here.
    ///
    /// - Parameter type: which queue the context uses.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        guard let context = NSManagedObjectContext(concurrencyType: type) as? Self else {
            programmerError("a \(Self.self) is made by naming the class: \(Self.self)(concurrencyType:)")
        }
        self = context
    }
}
