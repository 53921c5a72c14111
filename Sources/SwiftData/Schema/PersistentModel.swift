import Observation

#if compiler(<6.2)
    /// Before Swift 6.2 the metatype of every type can be sent.
    public typealias SendableMetatype = Any
#endif

/// A class whose objects are kept in a store. `@Model` makes one of a class.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    /// The class at the top of the inheritance tree.
    associatedtype Root: PersistentModel = Self

    /// Creates a model that shows backing data.
    ///
    /// - Parameter backingData: the values.
    init(backingData: any BackingData<Self>)

    /// The values of the model.
    var persistentBackingData: any BackingData<Self> { get set }

    /// The persisted properties that the class itself declares.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }

    /// Knows the observers of the model, which changes that come from elsewhere reach through it.
    var _$observationRegistrar: ObservationRegistrar { get }
}
