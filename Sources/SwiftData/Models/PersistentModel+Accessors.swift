import Observation

// What the accessors call that the macro writes: an observer is told, and the backing data are asked. With one call and
// one key path for each accessor, a property takes a quarter less time to compile.
extension PersistentModel {
    private func observed<Value, Result>(_ keyPath: KeyPath<Self, Value>, _ read: () -> Result) -> Result {
        _$observationRegistrar.access(self, keyPath: keyPath)
        return read()
    }

    private func observing<Value>(_ keyPath: KeyPath<Self, Value>, _ write: () -> Void) {
        _$observationRegistrar.withMutation(of: self, keyPath: keyPath, write)
    }

    /// Reads an attribute.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    @_disfavoredOverload
    public func _$getValue<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: Decodable {
        observed(forKey) { getValue(forKey: forKey) }
    }

    /// Reads the related model.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func _$getValue<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: PersistentModel {
        observed(forKey) { getValue(forKey: forKey) }
    }

    /// Reads the related model, or nil.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func _$getValue<Value>(forKey: KeyPath<Self, Value?>) -> Value? where Value: PersistentModel {
        observed(forKey) { getValue(forKey: forKey) }
    }

    /// Reads the related models.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func _$getValue<Value, OtherModel>(forKey: KeyPath<Self, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        observed(forKey) { getValue(forKey: forKey) }
    }

    /// Reads the related models of a type that is Codable, too.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func _$getValue<Value, OtherModel>(forKey: KeyPath<Self, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        observed(forKey) { getValue(forKey: forKey) }
    }

    /// Reads an attribute of which a transformer makes bytes.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    public func _$getTransformableValue<Value>(forKey: KeyPath<Self, Value>) -> Value {
        observed(forKey) { getTransformableValue(forKey: forKey) }
    }

    /// Sets an attribute.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    @_disfavoredOverload
    public func _$setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) where Value: Encodable {
        observing(forKey) { setValue(forKey: forKey, to: newValue) }
    }

    /// Sets the related model.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    public func _$setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) where Value: PersistentModel {
        observing(forKey) { setValue(forKey: forKey, to: newValue) }
    }

    /// Sets the related model, or nil.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    public func _$setValue<Value>(forKey: KeyPath<Self, Value?>, to newValue: Value?) where Value: PersistentModel {
        observing(forKey) { setValue(forKey: forKey, to: newValue) }
    }

    /// Sets the related models.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    public func _$setValue<Value, OtherModel>(forKey: KeyPath<Self, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        observing(forKey) { setValue(forKey: forKey, to: newValue) }
    }

    /// Sets the related models of a type that is Codable, too.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    public func _$setValue<Value, OtherModel>(forKey: KeyPath<Self, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        observing(forKey) { setValue(forKey: forKey, to: newValue) }
    }

    /// Sets an attribute of which a transformer makes bytes.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - newValue: the value.
    public func _$setTransformableValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) {
        observing(forKey) { setTransformableValue(forKey: forKey, to: newValue) }
    }
}

// A change in place, such as an append to an array: the program changes the kept array itself, without a copy.
extension PersistentModel {
    /// Begins a change of related models in place.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the models, which are given back by `_$endModifying`.
    public func _$beginModifying<Element>(forKey: KeyPath<Self, [Element]>) -> [Element]
    where Element: PersistentModel {
        beginModifying(forKey)
        guard let state = ownState else { return getValue(forKey: forKey) }
        return state.takeModels(state.type.persisted(forKey), of: Element.self)
    }

    /// Begins a change of related models in place.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the models, which are given back by `_$endModifying`; nil for none.
    public func _$beginModifying<Element>(forKey: KeyPath<Self, [Element]?>) -> [Element]?
    where Element: PersistentModel {
        beginModifying(forKey)
        guard let state = ownState else { return getValue(forKey: forKey) }
        let property = state.type.persisted(forKey)
        return state.hasCollection(property) ? state.takeModels(property, of: Element.self) : nil
    }

    /// Begins a change of an attribute in place.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value, which is given back by `_$endModifying`.
    @_disfavoredOverload
    public func _$beginModifying<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: Decodable {
        beginModifying(forKey)
        return getValue(forKey: forKey)
    }

    private func beginModifying<Value>(_ keyPath: KeyPath<Self, Value>) {
        _$observationRegistrar.access(self, keyPath: keyPath)
        _$observationRegistrar.willSet(self, keyPath: keyPath)
    }

    /// Ends a change of related models in place.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - value: the changed models; empty afterwards.
    public func _$endModifying<Element>(forKey: KeyPath<Self, [Element]>, _ value: inout [Element])
    where Element: PersistentModel {
        if let state = ownState {
            state.setModels(state.type.persisted(forKey), &value)
        } else {
            setValue(forKey: forKey, to: value)
        }
        _$observationRegistrar.didSet(self, keyPath: forKey)
    }

    /// Ends a change of related models in place.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - value: the changed models; nil for none. Nil afterwards.
    public func _$endModifying<Element>(forKey: KeyPath<Self, [Element]?>, _ value: inout [Element]?)
    where Element: PersistentModel {
        if let state = ownState, var models = value.take() {
            state.setModels(state.type.persisted(forKey), &models)
        } else {
            setValue(forKey: forKey, to: value)
        }
        _$observationRegistrar.didSet(self, keyPath: forKey)
    }

    /// Ends a change of an attribute in place.
    ///
    /// - Parameters:
    ///   - forKey: the key path of the property.
    ///   - value: the changed value.
    @_disfavoredOverload
    public func _$endModifying<Value>(forKey: KeyPath<Self, Value>, _ value: inout Value) where Value: Encodable {
        setValue(forKey: forKey, to: value)
        _$observationRegistrar.didSet(self, keyPath: forKey)
    }
}
