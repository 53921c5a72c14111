import CoreData

extension BackingData {
    /// Nil: only SwiftData's own backing data have such a place.
    public var _ownState: AnyObject? { nil }

    /// The values as those of a subclass's own backing data, for the code that the macro writes.
    ///
    /// - Returns: backing data with the same values.
    public func _generateCurrentClassBackingData<CurrentClass>() -> any BackingData<CurrentClass>
    where CurrentClass: PersistentModel { ModelBackingData<CurrentClass>(requiredState) }

    /// The values as those of a superclass's backing data.
    ///
    /// - Parameter givenType: the superclass.
    /// - Returns: backing data with the same values.
    public func _superClassBackingData<SuperClass>(
        of givenType: any PersistentModel.Type
    ) -> any BackingData<SuperClass> where SuperClass: PersistentModel { ModelBackingData<SuperClass>(requiredState) }

    /// Takes over the values of a superclass's backing data, for the code that the macro writes.
    ///
    /// - Parameter other: the backing data that the superclass's initializer filled.
    /// - Returns: these values and the own ones as the superclass's backing data; nil if they are one already.
    public func _joined<SuperClass>(with other: any BackingData<SuperClass>) -> (any BackingData<SuperClass>)?
    where SuperClass: PersistentModel {
        let (own, inherited) = (requiredState, other.requiredState)
        guard own !== inherited else { return nil }
        own.absorb(inherited)
        return ModelBackingData<SuperClass>(own)
    }

    private var requiredState: ModelState {
        guard let state = metadata as? ModelState else {
            programmerError("\(Self.self) cannot be the backing data of a model with a superclass")
        }
        return state
    }
}

/// Notes the model whose initializer sets a relationship, for the code that the macro writes.
///
/// - Parameter data: the model's backing data, in its own variable.
public func _$noteModel<Model>(_ data: inout any BackingData<Model>) where Model: PersistentModel {
    guard let state = data._ownState as? ModelState, !state.knowsModel else { return }
    withUnsafePointer(to: &data) { state.noteModel(of: Model.self, withBackingDataAt: UnsafeRawPointer($0)) }
}

/// The backing data of every model that SwiftData makes: a model's state, by key path.
final class ModelBackingData<Model: PersistentModel>: BackingData {
    let state: ModelState

    init(for modelType: Model.Type) { state = ModelState(ModelType.of(modelType)) }

    init(_ state: ModelState) { self.state = state }

    /// The identifier. Setting it has no effect: a save gives the permanent one.
    var persistentModelID: PersistentIdentifier? {
        get { state.identifier }
        set {}
    }

    var metadata: Any { state }

    var _ownState: AnyObject? { state }

    private func property(_ keyPath: PartialKeyPath<Model>) -> ModelProperty { state.type.persisted(keyPath) }

    @_disfavoredOverload
    func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: Decodable {
        state.value(property(forKey))
    }

    func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel {
        let property = property(forKey)
        if let model = state.relatedModels(property).first as? Value { return model }
        state.context?.doubt(
            property, of: state,
            "\(state.type.name).\(property.name) has no model, and is not optional. Set it, or declare it optional if "
                + "others may remove the related model.")
        let type = ModelType.of(Value.self)
        let none = ModelState.vanished(type, PersistentIdentifier(entityName: type.name, .temporary(0)))
        guard let model = none as? Value else { programmerError("\(Value.self) makes no model of its class") }
        return model
    }

    func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel {
        state.relatedModels(property(forKey)).first as? Value
    }

    func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement { collection(property(forKey)) }

    func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        collection(property(forKey))
    }

    private func collection<Value: RelationshipCollection>(_ property: ModelProperty) -> Value {
        if !state.hasCollection(property), let none = Any?.none as? Value { return none }
        guard let value = state.models(property, of: Value.PersistentElement.self) as? Value else {
            programmerError(
                "\(state.type.name).\(property.name) is of the type \(Value.self); only arrays of models are kept")
        }
        return value
    }

    func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value { state.value(property(forKey)) }

    @_disfavoredOverload
    func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: Encodable {
        state.setValue(property(forKey), newValue)
    }

    func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel {
        state.setRelated(property(forKey), [newValue])
    }

    func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel {
        state.setRelated(property(forKey), newValue.map { [$0] } ?? [])
    }

    func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        setCollection(property(forKey), newValue)
    }

    func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        setCollection(property(forKey), newValue)
    }

    private func setCollection<Value: RelationshipCollection>(_ property: ModelProperty, _ value: Value) {
        guard var models = value as? [Value.PersistentElement] else {
            return state.setRelated(property, [], isNil: true)
        }
        state.setModels(property, &models)
    }

    func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) {
        state.setValue(property(forKey), newValue)
    }
}
