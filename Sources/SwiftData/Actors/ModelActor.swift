import CoreData
import Dispatch

/// An actor with a context of its own. `@ModelActor` makes one of an actor.
public protocol ModelActor: Actor {
    /// The container of the context.
    nonisolated var modelContainer: ModelContainer { get }
    /// What runs the actor's work, and has its context.
    nonisolated var modelExecutor: any ModelExecutor { get }
}

/// Runs work that uses a context.
public protocol ModelExecutor: Executor {
    /// The context.
    var modelContext: ModelContext { get }
}

/// Runs work that uses a context, one piece after the other.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

extension ModelActor {
    /// What runs the actor's work. An executor that is not serial stops the program.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        guard let executor = modelExecutor as? any SerialModelExecutor else {
            programmerError(
                "\(Self.self)'s modelExecutor is a \(type(of: modelExecutor)), which is not a SerialModelExecutor")
        }
        return executor.asUnownedSerialExecutor()
    }

    /// The actor's context.
    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The model with an identifier, in the actor's context.
    ///
    /// - Parameters:
    ///   - id: the identifier.
    ///   - as: the model's class.
    /// - Returns: nil for a model of another class, and for one that no store has.
    public subscript<T>(id: PersistentIdentifier, as as: T.Type) -> T? where T: PersistentModel {
        guard
            let object = modelContext.objectID(of: id).flatMap({
                try? modelContext.objectContext.existingObject(with: $0)
            }) as? ModelObject
        else { return nil }
        return modelContext.model(of: object) as? T
    }
}

/// Runs work that uses a context on a queue of its own.
public class DefaultSerialModelExecutor: @unchecked Sendable, SerialModelExecutor {
    // @unchecked Sendable: the context is used by the work that runs on the queue.

    /// The context.
    final public let modelContext: ModelContext
    private let queue = DispatchQueue(label: "DefaultSerialModelExecutor")

    /// Creates an executor.
    ///
    /// - Parameter modelContext: the context that its work uses.
    public init(modelContext: ModelContext) { self.modelContext = modelContext }

    /// Runs a job on the queue.
    ///
    /// - Parameter job: the job.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    /// The executor itself, for actors.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
