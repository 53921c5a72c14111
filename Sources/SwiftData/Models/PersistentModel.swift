import CoreData
@_exported import Observation

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
        guard let state = persistentBackingData.metadata as? ModelState else { return nil }
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
        if let state = data.metadata as? ModelState, !state.knowsModel { state.learn(self) }
        return data
    }

    /// The value of an attribute.
    ///
    /// - Parameter forKey: the key path of the property.
    /// - Returns: the value.
    @_disfavoredOverload
    public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: Decodable {
        knownBackingData.getValue(forKey: forKey)
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
        knownBackingData.setValue(forKey: forKey, to: newValue)
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

/// Finds the names in a key path, such as `\Book.author?.name`.
///
/// To the compiler a persisted property is computed, so that its key path has no name. A model that stands for others
/// is read through the key path: its state notes the properties, and answers relationships with further such models.
final class KeyPathRecorder {
    private var names: [String] = []
    private var last: ModelProperty?
    /// The state from which the next property must be read; nil after an attribute.
    private var next: ModelState?
    /// Whether properties were read differently from a key path of persisted ones.
    private var isOther = false
    /// Models that were answered, kept until the key path was read.
    private var models: [any PersistentModel] = []

    /// The names that a key path from a model class reads, and the last property.
    ///
    /// - Returns: nil for a key path that does not lead to a persisted property; no names for the identifier.
    static func path(_ keyPath: AnyKeyPath, of type: ModelType) -> (names: [String], property: ModelProperty?)? {
        let steps = KeyPathSteps(keyPath)
        if steps.leadIntoCollection { return nil }
        let recorder = KeyPathRecorder()
        let model = recorder.makeModel(type)
        let result = (model as Any)[keyPath: keyPath]
        guard !recorder.isOther, recorder.next == nil || !recorder.names.isEmpty else { return nil }
        var names = recorder.names
        // Stored properties of a struct have names in the key path itself.
        let rest = steps.types.dropFirst(recorder.count)
        guard steps.types.count >= recorder.count else { return nil }
        // A computed property has read the last one, too, and made another value of it.
        if rest.isEmpty, !recorder.returned(result) { return nil }
        if !rest.isEmpty {
            guard let property = recorder.last, case .attribute(.composite(let shape)) = property.kind,
                shape.hasElement(at: rest.map(String.init))
            else { return nil }
            names += rest.map(String.init)
        }
        return (names, recorder.last)
    }

    /// How many properties were read, the identifier included.
    private var count = 0

    private func makeModel(_ type: ModelType) -> any PersistentModel {
        let state = ModelState(type)
        state.recorder = self
        next = state
        let model = state.shownModel
        models.append(model)
        return model
    }

    /// The value of the property that was read last; nil where any will do.
    private var value: AnyHashable?

    /// Whether a key path gives what the property has that was read last.
    private func returned(_ result: Any?) -> Bool {
        guard let value else { return true }
        return StoredValue.unwrapped(result) as? AnyHashable == value
    }

    func note(_ property: ModelProperty, of state: ModelState, value: Any? = nil) {
        if state !== next { isOther = true }
        count += 1
        names.append(property.name)
        (last, next) = (property, nil)
        self.value = StoredValue.unwrapped(value) as? AnyHashable
    }

    func noteIdentifier(of state: ModelState) {
        if state !== next { isOther = true }
        count += 1
        (last, next, value) = (nil, nil, nil)
    }

    func destination(_ property: ModelProperty, of state: ModelState) -> [any PersistentModel] {
        note(property, of: state)
        guard case .toOne(let type) = property.kind else { return [] }
        return [makeModel(ModelType.of(type))]
    }
}

extension CompositeShape {
    /// Whether names lead to an element, through elements that are composite themselves.
    func hasElement(at names: [String]) -> Bool {
        guard let name = names.first, let element = element(named: name) else { return false }
        guard names.count > 1 else { return true }
        guard case .value(.composite(let inner)) = element.content else { return false }
        return inner.hasElement(at: Array(names.dropFirst()))
    }
}
