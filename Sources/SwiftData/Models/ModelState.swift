import CoreData

/// The values of one model: its own as long as it belongs to no context, those of its managed object from then on.
///
/// A model holds its state, which holds the managed object and its context; these do not hold the model.
final class ModelState {
    let type: ModelType
    /// The model that shows the state.
    private(set) weak var model: (any PersistentModel)?
    /// Whether the model is known, and its initializer has ended.
    private(set) var knowsModel = false

    /// The values of a model without a context, by number of the property.
    private var values: ContiguousArray<StoredValue>
    /// The models that a model without a context is related to, by number of the property. Their inverses hold it in
    /// turn, until the models are inserted.
    var related: [Int: RelatedModels] = [:]

    /// The managed object of an inserted model.
    private(set) var object: ModelObject?
    /// The places of the properties in the object.
    private(set) var binding: EntityBinding?
    /// The context of the object, which a model keeps alive.
    private(set) var context: ModelContext?
    /// The identifier of a model whose deletion was saved.
    private(set) var formerIdentifier: PersistentIdentifier?
    /// The number of the temporary identifier, if one was asked for before the model was inserted.
    private(set) var temporaryNumber: Int64?
    /// The number of the property that a setter changes.
    private var changedProperty: Int?
    /// Notes what a key path reads, for a model that stands for others.
    var recorder: KeyPathRecorder?
    /// The arrays of relationships to many that were read last.
    var kept: [KeptModels] = []

    /// The state of a new model.
    init(_ type: ModelType) {
        self.type = type
        values = type.initialValues
    }

    /// The state of an object in a context.
    init(_ type: ModelType, of object: ModelObject, _ binding: EntityBinding, in context: ModelContext) {
        self.type = type
        values = []
        (self.object, self.binding, self.context) = (object, binding, context)
    }

    func learn(_ model: any PersistentModel) {
        self.model = model
        knowsModel = true
    }

    /// Notes the model whose initializer writes the first values, so that it is not made a second time for those who
    /// read the other side of a relationship before anybody has used the model. They can use its persisted properties.
    ///
    /// Unsafe memory: a model's variables lie at fixed distances from its beginning, which has the address of its
    /// class. Both are compared before the address is taken for the model's. Whoever gets the model may keep it, so
    /// that classes whose initializers may fail have no such distance.
    ///
    /// - Parameters:
    ///   - class: the model's class, or a superclass.
    ///   - place: where the model has the variable for its backing data.
    func noteModel<Model: PersistentModel>(of class: Model.Type, withBackingDataAt place: UnsafeRawPointer) {
        guard !knowsModel, model == nil, let offset = type.backingDataOffset else { return }
        let start = place - offset
        guard UInt(bitPattern: start) % UInt(MemoryLayout<UInt>.alignment) == 0,
            ModelType.known(at: start.load(as: UInt.self))?.isKind(of: type) == true
        else { return }
        model = Unmanaged<Model>.fromOpaque(start).takeUnretainedValue()
    }

    /// The model that shows the state, made if there is none.
    var shownModel: any PersistentModel {
        if let model { return model }
        let model = Self.makeModel(self.type.type, self)
        learn(model)
        return model
    }

    private static func makeModel<Model: PersistentModel>(_ type: Model.Type, _ state: ModelState) -> Model {
        Model(backingData: ModelBackingData<Model>(state))
    }

    var identifier: PersistentIdentifier {
        recorder?.noteIdentifier(of: self)
        if let formerIdentifier { return formerIdentifier }
        if let object, !object.objectID.isTemporaryID { return PersistentIdentifier(object.objectID) }
        let number: Int64
        if let known = temporaryNumber ?? object?.objectID.key {
            number = known
        } else {
            number = NSManagedObjectContext.makeTemporaryNumber()
            temporaryNumber = number
        }
        return PersistentIdentifier(entityName: type.name, .temporary(number))
    }

    // MARK: Attributes

    func value<Value>(_ property: ModelProperty) -> Value {
        let coding: ValueCoding<Value> = coding(property)
        if let recorder, let sample = coding.sample ?? property.defaultValue as? Value {
            recorder.note(property, of: self, value: sample)
            return sample
        }
        let stored = stored(property)
        do { return try coding.value(of: stored) } catch {
            // Others may have removed the value of a property that is not optional.
            let value = property.defaultValue as? Value ?? coding.absent
            if stored.isNull, let value { return value }
            let reason =
                "\(type.name).\(property.name) cannot be read as \(Value.self): \(error). Let the type decode what the "
                + "store has, or set the property."
            context?.doubt(property, of: self, reason)
            // A fetch throws for a model of which nothing can be shown; others may still lead to it.
            guard let value = value ?? coding.placeholder else { programmerError(reason) }
            return value
        }
    }

    /// Whether what the store has of a property is not a value of it.
    func isUnreadable(_ property: ModelProperty) -> Bool {
        guard !property.isRelationship else { return !property.isOptional && relatedModels(property).isEmpty }
        let stored = stored(property)
        guard !stored.isNull || property.needsValue else { return false }
        return (property.coding as? any StoredFormReading)?.reads(stored) == false
    }

    /// Why a property of the model cannot be shown, not even by another value; nil if all can.
    var obstacle: String? {
        for property in type.properties where property.needsValue {
            let reading = property.coding as? any StoredFormReading
            guard reading?.hasPlaceholder == false, isUnreadable(property) else { continue }
            return "\(type.name).\(property.name) of \(identifier) cannot be read as \(property.valueType)."
        }
        return nil
    }

    /// The stored form of an attribute's value.
    func stored(_ property: ModelProperty) -> StoredValue {
        guard let object else { return values[property.number] }
        guard case .slot(let slot)? = binding?.places[property.number] else { return .null }
        return object.storedValue(at: slot)
    }

    /// The coding of a property, which has been made for its type.
    private func coding<Value>(_ property: ModelProperty) -> ValueCoding<Value> {
        guard property.valueType == Value.self, let coding = property.coding else {
            programmerError("\(type.name).\(property.name) is of the type \(property.valueType), not \(Value.self)")
        }
        return unsafeDowncast(coding, to: ValueCoding<Value>.self)
    }

    func setValue<Value>(_ property: ModelProperty, _ value: Value) {
        let coding: ValueCoding<Value> = coding(property)
        let stored = coding.stored(value)
        guard let object else { return values[property.number] = stored }
        guard case .slot(let slot)? = binding?.places[property.number] else { return }
        changing(property) { object.setStoredValue(stored, at: slot) }
        context?.noteChange(of: type)
    }

    /// Sets the stored form of an attribute's value.
    func setStored(_ property: ModelProperty, _ stored: StoredValue) {
        guard let object else { return values[property.number] = stored }
        guard case .slot(let slot)? = binding?.places[property.number] else { return }
        object.setStoredValue(stored, at: slot)
        context?.noteChange(of: type)
    }

    /// Changes a property of the object, of which the setter itself tells observers.
    func changing(_ property: ModelProperty, _ change: () -> Void) {
        let outer = changedProperty
        changedProperty = property.number
        change()
        changedProperty = outer
    }

    /// Tells observers of a change that no setter of the model makes: of the other side of a relationship, of undo.
    func objectDidChange(_ key: String) {
        if let changedProperty, type.properties[changedProperty].name == key { return }
        guard let model, let property = type.property(named: key) else { return }
        property.notify(model)
    }

    // MARK: Coming and going

    /// Leaves the object, and keeps values of its own again.
    fileprivate func leaveObject(with values: ContiguousArray<StoredValue>, formerly identifier: PersistentIdentifier?)
    {
        object?.modelState = nil
        kept = []
        (object, binding, context) = (nil, nil, nil)
        self.values = values
        formerIdentifier = identifier
    }

    /// Takes over the values that the initializer of a superclass wrote, and the place of its object.
    func absorb(_ inherited: ModelState) {
        let context = inherited.context
        for (number, value) in inherited.currentValues.enumerated() { values[number] = value }
        for property in inherited.type.properties where property.isRelationship {
            let ends = RelatedModels(inherited.relatedModels(property))
            if inherited.related[property.number] != nil || !ends.isEmpty {
                setUnattached(property, RelatedModels())
                inherited.setRelated(property, [])
                if inherited.object == nil { setUnattached(property, ends) } else { related[property.number] = ends }
            }
        }
        if let context { context.replace(inherited, by: self) }
    }

    /// Moves the values to an object of a context. Relationships are set when all related models have objects.
    func attach(to object: ModelObject, _ binding: EntityBinding, in context: ModelContext) {
        object.setFirstValues { slots in
            for (number, place) in binding.places.enumerated() {
                if case .slot(let slot) = place { slots[slot] = values[number] }
            }
        }
        values = []
        kept = []
        formerIdentifier = nil
        (self.object, self.binding, self.context) = (object, binding, context)
        object.modelState = self
    }

    /// Sets the relationships of the object that the model has got.
    func attachRelated() {
        guard let object, let binding, let context else { return }
        for (number, ends) in related {
            let objects = ends.all.compactMap { context.object(of: $0.state) }
            if !objects.isEmpty { binding.setRelated(type.properties[number], of: object, objects) }
        }
        related = [:]
    }
}

extension ModelState {
    // MARK: Leaving a context

    /// The values of the object's attributes, read if they were not yet.
    var currentValues: ContiguousArray<StoredValue> {
        ContiguousArray(type.properties.map { $0.isRelationship ? .null : stored($0) })
    }

    /// The values of the object's attributes as far as they were read: the row may be gone.
    var knownValues: ContiguousArray<StoredValue> {
        object?.isFault == true ? type.initialValues : currentValues
    }

    /// Leaves the object of a model whose deletion was saved, and shows its last values.
    func leave(with lastValues: ContiguousArray<StoredValue>, formerly identifier: PersistentIdentifier) {
        leaveObject(with: lastValues, formerly: identifier)
    }

    /// Leaves an object that was never saved, so that the model can be inserted again.
    func withdraw(with values: ContiguousArray<StoredValue>) { leaveObject(with: values, formerly: nil) }

    // MARK: Observing

    /// Tells observers that all properties may have changed.
    func notifyAll() {
        guard let model else { return }
        for property in type.properties { property.notify(model) }
    }
}
