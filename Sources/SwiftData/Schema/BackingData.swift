/// The values of a model.
///
/// A model asks its backing data for each value. Those that SwiftData makes keep the values of a new model themselves,
/// and those of an inserted one in its context.
public protocol BackingData<Model> {
    /// The model class.
    associatedtype Model: PersistentModel

    /// Creates backing data with the initial values of a model class.
    ///
    /// - Parameter modelType: the class.
    init(for modelType: Model.Type)

    /// The identifier of the model; nil if it has none.
    var persistentModelID: PersistentIdentifier? { get set }

    /// What the backing data stand on.
    var metadata: Any { get }

    /// Where SwiftData's own backing data keep the values, so that a model reaches these at once; nil for others.
    var _ownState: AnyObject? { get }

    /// The value of an attribute.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    @_disfavoredOverload
    func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: Decodable

    /// The related model.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel

    /// The related model; nil for none.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel

    /// The related models.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement

    /// The related models.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement

    /// The value of an attribute of which a transformer makes bytes.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value

    /// Sets the value of an attribute.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    @_disfavoredOverload
    func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: Encodable

    /// Sets the related model.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the model.
    func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel

    /// Sets the related model; nil for none.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the model.
    func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel

    /// Sets the related models.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the models.
    func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement

    /// Sets the related models.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the models.
    func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement

    /// Sets the value of an attribute of which a transformer makes bytes.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
}

/// A collection of related models: an array, or an optional one.
public protocol RelationshipCollection {
    /// The class of the models.
    associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
    /// The class of the models.
    public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection where Wrapped: Sequence, Wrapped.Element: PersistentModel {
    /// The class of the models.
    public typealias PersistentElement = Wrapped.Element
}

/// What makes a relationship's value of its models, and tells them.
protocol ModelCollection: RelationshipCollection {
    init(models: [any PersistentModel])
    var models: [any PersistentModel] { get }
}

extension Array: ModelCollection where Element: PersistentModel {
    init(models: [any PersistentModel]) { self = models.compactMap { $0 as? Element } }
    var models: [any PersistentModel] { self }
}
