import CoreData
import Observation

extension PersistentModel {
    /// A registrar without observers, for a class that is made without the macro.
    public var _$observationRegistrar: ObservationRegistrar { ObservationRegistrar() }

    /// Makes backing data with the initial values of a class.
    ///
    /// - Returns: the backing data of one new model.
    public static func createBackingData<P>() -> some BackingData<P> where P: PersistentModel {
        ModelBackingData<P>(for: P.self)
    }

    /// The state behind the model; nil for backing data of another kind.
    var modelState: ModelState? {
        let data = persistentBackingData
        guard let state = (data._ownState ?? data.metadata as AnyObject) as? ModelState else { return nil }
        if !state.knowsModel { state.learn(self) }
        return state
    }

    /// The context to which the model belongs; nil for one that was not inserted, or whose deletion was saved.
    public var modelContext: ModelContext? { modelState?.context }

    /// The model's identifier. It is temporary until the model is first saved.
    public var persistentModelID: PersistentIdentifier {
        if let state = modelState { return state.identifier }
        return persistentBackingData.persistentModelID
            ?? PersistentIdentifier(entityName: ModelType.name(of: Self.self), .temporary(0))
    }

    /// The model's identifier.
    public var id: PersistentIdentifier { persistentModelID }

    /// Whether the model is new, changed or deleted since it was last saved.
    public var hasChanges: Bool { modelState?.object?.hasChanges ?? false }

    /// Whether the model is deleted, also after the deletion was saved.
    public var isDeleted: Bool {
        guard let state = modelState else { return false }
        return state.formerIdentifier != nil || state.object?.isDeleted ?? false
    }

    /// Whether both are the same model.
    ///
    /// - Parameters:
    ///   - lhs: a model.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        if lhs === rhs { return true }
        guard let state = lhs.modelState else { return false }
        return state === rhs.modelState
    }

    /// Hashes the identity of the model.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(modelState.map(ObjectIdentifier.init) ?? ObjectIdentifier(self))
    }

    // MARK: Values

    /// The backing data, whose state knows the model.
    private var knownBackingData: any BackingData<Self> {
        let data = persistentBackingData
        if let state = (data._ownState ?? data.metadata as AnyObject) as? ModelState, !state.knowsModel {
            state.learn(self)
        }
        return data
    }

    /// The state of SwiftData's own backing data, which knows the model; nil for backing data of another kind.
    var ownState: ModelState? {
        guard let state = persistentBackingData._ownState as? ModelState else { return nil }
        if !state.knowsModel { state.learn(self) }
        return state
    }

    /// The value of an attribute.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    @_disfavoredOverload
    public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: Decodable {
        if let state = ownState { return state.value(state.type.persisted(forKey)) }
        return persistentBackingData.getValue(forKey: forKey)
    }

    /// The related model.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: PersistentModel {
        knownBackingData.getValue(forKey: forKey)
    }

    /// The related model; nil for none.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func getValue<Value>(forKey: KeyPath<Self, Value?>) -> Value? where Value: PersistentModel {
        knownBackingData.getValue(forKey: forKey)
    }

    /// The related models.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func getValue<Value, OtherModel>(forKey: KeyPath<Self, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        knownBackingData.getValue(forKey: forKey)
    }

    /// The related models.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func getValue<Value, OtherModel>(forKey: KeyPath<Self, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        knownBackingData.getValue(forKey: forKey)
    }

    /// The value of an attribute of which a transformer makes bytes.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func getTransformableValue<Value>(forKey: KeyPath<Self, Value>) -> Value {
        knownBackingData.getTransformableValue(forKey: forKey)
    }

    /// Sets the value of an attribute.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    @_disfavoredOverload
    public func setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) where Value: Encodable {
        if let state = ownState { return state.setValue(state.type.persisted(forKey), newValue) }
        persistentBackingData.setValue(forKey: forKey, to: newValue)
    }

    /// Sets the related model.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the model.
    public func setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) where Value: PersistentModel {
        knownBackingData.setValue(forKey: forKey, to: newValue)
    }

    /// Sets the related model; nil for none.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the model.
    public func setValue<Value>(forKey: KeyPath<Self, Value?>, to newValue: Value?) where Value: PersistentModel {
        knownBackingData.setValue(forKey: forKey, to: newValue)
    }

    /// Sets the related models.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the models.
    public func setValue<Value, OtherModel>(forKey: KeyPath<Self, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        knownBackingData.setValue(forKey: forKey, to: newValue)
    }

    /// Sets the related models.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the models.
    public func setValue<Value, OtherModel>(forKey: KeyPath<Self, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        knownBackingData.setValue(forKey: forKey, to: newValue)
    }

    /// Sets the value of an attribute of which a transformer makes bytes.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    public func setTransformableValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) {
        knownBackingData.setTransformableValue(forKey: forKey, to: newValue)
    }
}
