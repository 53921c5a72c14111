import Foundation
import Synchronization

/// An object of the graph: the values of one row, and its relationships to other objects of the same context.
///
/// Subclass it for typed properties, or use it as it is through key-value coding. An object belongs to the queue of
/// its context.
open class NSManagedObject: NSObject, NSFetchRequestResult, NSKeyValueObserving {
    // MARK: State

    // Exclusivity is not checked at run time: each access would pay a call for it, and accessors make three. An object
    // belongs to one queue, and none of the properties is passed `inout` to code that could come back to the object.

    /// The layout, which the table or the ID retains: accessors look at it for each value, and do not count references.
    @exclusivity(unchecked) final var unretainedLayout: Unmanaged<EntityLayout>
    /// The store, retained likewise; `nil` for an object that was never saved.
    @exclusivity(unchecked) final var unretainedStore: Unmanaged<StoreIdentity>?
    /// The primary key, or the number of a temporary ID.
    @exclusivity(unchecked) final var key: Int64
    /// The ID, retained, once anybody has asked for it, on whatever thread.
    final let madeIdentifier: Atomic<Unmanaged<NSManagedObjectID>?>
    /// What the object shares with its context; `nil` when it has none.
    @exclusivity(unchecked) final private(set) var table: ObjectTable?
    /// The values by slot; empty for a fault whose values have not been fetched.
    @exclusivity(unchecked) package final var values: ContiguousArray<StoredValue>
    /// The values as the store has them; the same buffer as `values` until one is changed.
    @exclusivity(unchecked) package final var snapshot: ContiguousArray<StoredValue>
    /// By relationship; empty until a relationship is first followed.
    @exclusivity(unchecked) final var relations: [RelationState] = []
    /// The version (`Z_OPT`) of the row that `snapshot` came from.
    @exclusivity(unchecked) package final var version: Int64 = 0
    @exclusivity(unchecked) package final var state: ObjectState
    /// When pending values were fetched; see `NSManagedObjectContext.fulfill`.
    @exclusivity(unchecked) final var stamp: UInt32 = 0

    // MARK: Making objects

    /// Creates an object of an entity, and inserts it into a context.
    ///
    /// - Parameters:
    ///   - entity: what the object is to be; must not be abstract.
    ///   - context: where to insert it; `nil` makes an object without a context, for `insert(_:)` later.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if let context, let place = context.materialization.place {
            unretainedLayout = place.layout
            unretainedStore = place.store
            key = place.key
            madeIdentifier = Atomic(place.identifier.map { .passRetained($0) })
            version = context.materialization.version
            state = context.materialization.state
            stamp = context.materialization.stamp
            let stored = context.materialization.finish()
            values = place.layout._withUnsafeGuaranteedRef { $0.withTransientDefaults(stored) }
            snapshot = values
            table = context.table
            super.init()
            return
        }
        let layout = NSManagedObject.layout(of: entity)
        if layout.isAbstract {
            programmerError("cannot make an object of abstract entity “\(layout.name)”; make one of a subentity")
        }
        unretainedLayout = .passUnretained(layout)
        unretainedStore = nil
        key = NSManagedObjectContext.makeTemporaryNumber()
        madeIdentifier = Atomic(nil)
        values = layout.defaultValues
        snapshot = layout.defaultValues
        state = []
        super.init()
        // The ID retains the layout until a context does.
        if context == nil { _ = identifier }
        context?.insert(self)
    }

    /// Creates an object of the entity that names this class, and inserts it into a context.
    ///
    /// - Parameter moc: where to insert it; its model must have exactly one entity for the class.
    public convenience init(context moc: NSManagedObjectContext) {
        self.init(entity: moc.descriptionForNewObject(of: Self.self), insertInto: moc)
    }

    /// Creates an object of a class that is only known at run time: how fetched objects are made, and new ones by generic code. Programs
    /// have no need to call it. Subclasses inherit it when they have `init(entity:insertInto:)`.
    ///
    /// - Parameter moc: the context that says what the object is to be.
    public required convenience init(materializedIn moc: NSManagedObjectContext) {
        self.init(entity: moc.descriptionForNewObject(of: Self.self), insertInto: moc)
    }

    deinit {
        table?.remove(self)
        if state.contains(.observed) { ObservationInfo.forget(self) }
        madeIdentifier.load(ordering: .acquiring)?.release()
    }

    package final var storedContext: NSManagedObjectContext? { table?.context }

    /// Makes the object one of a context, or of none.
    final func setContext(_ context: NSManagedObjectContext?) {
        if let context { context.keep(unretainedLayout, unretainedStore) } else if table != nil { _ = identifier }
        table = context?.table
    }

    /// The entity that names this class, in the models that are in use.
    ///
    /// Stops the program when no model has one.
    open class func entity() -> NSEntityDescription { ManagedClasses.entity(for: self).description }

    /// The class's name with its module, `App.Book`, as `managedObjectClassName` has it.
    open class func description() -> String { String(reflecting: self) }

    /// A request for all objects of the entity that names this class.
    ///
    /// Classes that Xcode generates have one of the same name with a type; where both would do, theirs is meant.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity()
        return request
    }

    /// Whether changes of properties that the model does not know leave the object unchanged. `true`.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    // MARK: Identity

    /// The object's entity.
    open var entity: NSEntityDescription { layout.description }

    package final var layout: EntityLayout { unretainedLayout.takeUnretainedValue() }

    /// The object's ID; temporary until it was first saved.
    open var objectID: NSManagedObjectID { identifier }

    /// The context that the object belongs to; `nil` when that is gone or the object was deleted and saved.
    open var managedObjectContext: NSManagedObjectContext? { storedContext }

    /// Whether the object is new, to be written by the next save.
    open var isInserted: Bool { state.contains(.inserted) && !state.contains(.deleted) }

    /// Whether the object is changed, to be written by the next save.
    open var isUpdated: Bool { state.contains(.updated) && state.isDisjoint(with: [.inserted, .deleted]) }

    /// Whether the object is to be deleted by the next save.
    open var isDeleted: Bool { state.contains(.deleted) }

    /// Whether the object is new, changed or to be deleted.
    open var hasChanges: Bool { !state.isDisjoint(with: .anyChange) }

    /// Whether any stored property differs from what the store has.
    open var hasPersistentChangedValues: Bool { hasTrackedChanges && hasPersistentChanges }

    /// Whether the object has yet to take its values.
    open var isFault: Bool { state.contains(.fault) }

    /// Nonzero while the object is not fully there: a fault, or being made into one.
    open var faultingState: Int { isFault ? 1 : 0 }

    /// Whether a relationship has yet to be loaded.
    ///
    /// - Parameter key: the name of a relationship; any other stops the program.
    /// - Returns: `true` as long as reading the relationship would ask the store.
    open func hasFault(forRelationshipNamed key: String) -> Bool { isUnloaded(key) }

    /// The IDs of the objects at the other end of a relationship, which are not loaded for it.
    ///
    /// - Parameter key: the name of a relationship; any other stops the program.
    /// - Returns: the IDs, in no particular order; none for an empty relationship.
    open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { identifiers(atEndOf: key) }

    // MARK: Life cycle, for subclasses

    /// Called once, after the object was first inserted into a context. Set initial values here; call `super`.
    open func awakeFromInsert() {}

    /// Called after the object took its values from a store. Derive transient values here; call `super`.
    ///
    /// Setters called here change values, and nothing else: neither the object nor its context becomes changed, nothing is registered for
    /// undo, and inverses of relationships are not set.
    open func awakeFromFetch() {}

    /// Called after the object's values were reset by an undo, a refresh or a rollback. Setters work as in `awakeFromFetch`.
    ///
    /// - Parameter flags: what the values were reset by.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called before the object is marked as deleted, with its relationships still there.
    open func prepareForDeletion() {}

    /// Called before a save, also for objects that the save deletes. Changes made here are saved too.
    open func willSave() {}

    /// Called after a save, also for objects that it deleted.
    open func didSave() {}

    /// Called before the object becomes a fault.
    open func willTurnIntoFault() {}

    /// Called after the object became a fault.
    open func didTurnIntoFault() {}

    // MARK: Validation, for subclasses

    /// Checks a value for a property, by the model's rules and, in a subclass, any others.
    ///
    /// - Parameters:
    ///   - value: points to what the property would become; a replacement may be put there.
    ///   - key: the property.
    /// - Throws: an error with a code from `NSManagedObjectValidationError` to `NSValidationInvalidURIError`.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateByModel(value.pointee, forKey: key)
    }

    /// The properties to pass to `validateValue(_:forKey:)` before a save, for subclasses that override it.
    ///
    /// Apple's Core Data finds methods named `validate<Key>:` by themselves, which needs the Objective-C runtime.
    open class var customValidationKeys: [String] { [] }

    /// Checks whether the object can be inserted: by the model's rules and, in a subclass, any others.
    ///
    /// ```swift
    /// override func validateForInsert() throws {
    ///     try super.validateForInsert()
    ///     if end < start { throw CocoaError(.validationDateTooSoon) }
    /// }
    /// ```
    ///
    /// - Throws: an error with a code from `NSManagedObjectValidationError` to `NSValidationInvalidURIError`; several
    ///   of them under `NSDetailedErrorsKey` of one of code `NSValidationMultipleErrorsError`.
    open func validateForInsert() throws { try validateProperties() }

    /// Checks whether the object can be updated: by the model's rules and, in a subclass, any others.
    ///
    /// - Throws: an error with a code from `NSManagedObjectValidationError` to `NSValidationInvalidURIError`; several
    ///   of them under `NSDetailedErrorsKey` of one of code `NSValidationMultipleErrorsError`.
    open func validateForUpdate() throws { try validateProperties() }

    /// Checks whether the object can be deleted: no relationship with the rule “deny” may have destinations left.
    ///
    /// - Throws: `NSValidationRelationshipDeniedDeleteError`; several of them under `NSDetailedErrorsKey` of one of
    ///   code `NSValidationMultipleErrorsError`.
    open func validateForDelete() throws { try validateDeleteRules() }

    // MARK: Access, for subclasses

    /// The value of a property, through its relationships and the store if need be. Numbers come as `NSNumber`.
    ///
    /// - Parameter key: the name of a property; what is done with any other says `value(forUndefinedKey:)`.
    /// - Returns: the value; `nil` for none, a set for an unordered to-many relationship.
    open func value(forKey key: String) -> Any? { modeledValue(forKey: key) }

    /// Sets a property. A value of a wrong type is refused when the object is saved.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: the name of a property; what is done with any other says `setValue(_:forUndefinedKey:)`.
    open func setValue(_ value: Any?, forKey key: String) { setModeledValue(value, forKey: key) }

    /// The value of a key that the entity does not have. Stops the program, unless a subclass says otherwise.
    ///
    /// - Parameter key: a key that names no property.
    /// - Returns: what a subclass computes for the key.
    open func value(forUndefinedKey key: String) -> Any? { unknownKey(key) }

    /// Sets the value of a key that the entity does not have. Stops the program, unless a subclass says otherwise.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: a key that names no property.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { unknownKey(key) }

    /// Is told that a property of a type without `nil` shall have no value, by code that sets it so. Stops the program, unless a
    /// subclass says otherwise; nothing here calls it, since every modeled property takes `nil` until it is saved.
    ///
    /// - Parameter key: the name of the property.
    open func setNilValueForKey(_ key: String) {
        programmerError(
            "“\(layout.name).\(key)” has a type without nil; override setNilValueForKey(_:) to give it a value")
    }

    /// The value at the end of a path of keys; a to-many relationship on the way gives the values of all its objects, and an operator
    /// (`books.@avg.price`) what it computes of these, as the key-value coding guide has it: `@avg` and `@sum` count no value as zero,
    /// `@max` and `@min` ignore it.
    ///
    /// ```swift
    /// let prices = author.value(forKeyPath: "books.price")            // a set of numbers
    /// let average = author.value(forKeyPath: "books.@avg.price") as? Double
    /// ```
    ///
    /// - Parameter keyPath: names of properties with dots between them, and operators.
    /// - Returns: the value; `nil` where the path leads to no object or to no value.
    open func value(forKeyPath keyPath: String) -> Any? { value(atEndOf: keyPath) }

    /// Sets the value at the end of a path of keys: of every object that a to-many relationship on the way leads to, and of none where
    /// a to-one relationship has no destination.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - keyPath: names of properties with dots between them.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) { setValue(value, atEndOf: keyPath) }

    /// Sets several properties.
    ///
    /// - Parameter keyedValues: values by the names of properties; `NSNull` for none.
    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value, forKey: key) }
    }

    /// The values of several properties; `NSNull` stands for none.
    ///
    /// - Parameter keys: the names of the properties.
    /// - Returns: the values, by the names of the properties.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] { values(byKeys: keys) }

    /// The value that is there, without firing a fault or following a relationship.
    ///
    /// - Parameter key: the name of a property; any other stops the program.
    /// - Returns: the value; `nil` for none, and for a fault that has yet to take its values.
    open func primitiveValue(forKey key: String) -> Any? { unloadedValue(forKey: key) }

    /// Sets a value without telling the context; for custom accessors, between `willChangeValue` and
    /// `didChangeValue`.
    ///
    /// ```swift
    /// var title: String? {
    ///     get {
    ///         willAccessValue(forKey: "title")
    ///         defer { didAccessValue(forKey: "title") }
    ///         return primitiveValue(forKey: "title") as? String
    ///     }
    ///     set {
    ///         willChangeValue(forKey: "title")
    ///         defer { didChangeValue(forKey: "title") }
    ///         setPrimitiveValue(newValue?.trimmingCharacters(in: .whitespaces), forKey: "title")
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: the name of a property; any other stops the program.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) { setUntrackedValue(value, forKey: key) }

    /// Fires the fault if need be; for custom accessors, before `primitiveValue(forKey:)`.
    ///
    /// - Parameter key: the property that is about to be read; `nil` for any.
    open func willAccessValue(forKey key: String?) { if isFault { fireFault() } }

    /// For custom accessors, after `primitiveValue(forKey:)`.
    ///
    /// - Parameter key: the property that was read; `nil` for any.
    open func didAccessValue(forKey key: String?) {}

    /// Called before every change of a property. Custom accessors call it themselves. Overrides call `super`.
    ///
    /// - Parameter key: the property.
    open func willChangeValue(forKey key: String) {
        if state.isDisjoint(with: [.fault, .checked, .observed]),
            !state.isDisjoint(with: [.updatedInEvent, .insertedInEvent])
        {
            return
        }
        noteChange(ofKey: key)
    }

    /// Called after every change of a property. Custom accessors call it themselves. Overrides call `super`, which tells observers.
    ///
    /// - Parameter key: the property.
    open func didChangeValue(forKey key: String) { if state.contains(.observed) { tellAfter(key) } }

    /// The key paths that a computed property depends on: who observes it hears of their changes. Overrides name the computed property, as
    /// methods named `keyPathsForValuesAffecting<Key>` are not found.
    ///
    /// - Parameter key: the name of the computed property.
    /// - Returns: key paths from the same object; by default none.
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    /// Whether changes of a property are told of without calls of `willChangeValue` and `didChangeValue`. `false`: accessors of modeled
    /// properties make these calls, and accessors of others are to make them.
    ///
    /// - Parameter key: the name of the property.
    /// - Returns: `false`, whatever the property.
    open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }

    /// For custom accessors of to-many relationships, before members come or go.
    ///
    /// - Parameters:
    ///   - inKey: the relationship.
    ///   - inMutationKind: what happens to the set.
    ///   - inObjects: the members that come or go.
    open func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { willChangeSet(inKey, inMutationKind, inObjects) }

    /// For custom accessors of to-many relationships, after members came or went.
    ///
    /// - Parameters:
    ///   - inKey: the relationship.
    ///   - inMutationKind: what happens to the set.
    ///   - inObjects: the members that come or go.
    open func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { didChangeValue(forKey: inKey) }

    /// For custom accessors of ordered relationships, before members come, go or give way.
    ///
    /// - Parameters:
    ///   - changeKind: what happens to the members.
    ///   - indexes: where: the places that the members have, or will have.
    ///   - key: the relationship.
    open func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        willChangeMembers(key, changeKind, indexes)
    }

    /// For custom accessors of ordered relationships, after members came, went or gave way.
    ///
    /// - Parameters:
    ///   - changeKind: what happened to the members.
    ///   - indexes: where: the places that the members have, or had.
    ///   - key: the relationship.
    open func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        didChangeValue(forKey: key)
    }

    // MARK: Observers

    /// Has an observer told of changes of a value, on the queue of the object, until it is removed; nobody is kept alive for it.
    ///
    /// Changes by accessors and by key are told of, and those of relationships from either end; those that undo, rollback, refreshing
    /// and merging make; and an object tells of its properties when it becomes a fault and when it takes its values.
    ///
    /// - Parameters:
    ///   - observer: who is told.
    ///   - keyPath: the names of properties, with dots between them where they lead through to-one relationships.
    ///   - options: what the observer wants to be told.
    ///   - context: what the observer is given with each notification.
    open func addObserver(
        _ observer: any NSKeyValueObserving, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) { register(observer, keyPath, options, context) }

    /// Ends what an observer registered for a key path. One that is not registered stops the program.
    ///
    /// - Parameters:
    ///   - observer: who was told.
    ///   - keyPath: the key path.
    ///   - context: what was given with the registration.
    open func removeObserver(
        _ observer: any NSKeyValueObserving, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
    ) { unregister(observer, keyPath, context: .some(context)) }

    /// Ends what an observer registered for a key path. One that is not registered stops the program.
    ///
    /// - Parameters:
    ///   - observer: who was told.
    ///   - keyPath: the key path.
    open func removeObserver(_ observer: any NSKeyValueObserving, forKeyPath keyPath: String) {
        unregister(observer, keyPath)
    }

    /// Hears of changes of what the object observes, for subclasses. What nobody has handled stops the program.
    ///
    /// - Parameters:
    ///   - keyPath: the key path that is observed.
    ///   - object: the object that it starts from.
    ///   - change: what changed.
    ///   - context: what was given with the registration.
    open func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        programmerError("a \(layout.name) observes “\(keyPath ?? "")” and does not override observeValue for it")
    }

    /// Not `nil` while the object has observers; the pointer leads to nothing of use.
    open var observationInfo: UnsafeMutableRawPointer? { pointerToObservers }

    /// The set of a to-many relationship, to be changed in place.
    ///
    /// - Parameter key: the name of an unordered to-many relationship; any other stops the program.
    /// - Returns: a proxy; changes of it are changes of the relationship.
    open func mutableSetValue(forKey key: String) -> NSMutableSet { makeMutableSet(key) }

    /// The ordered set of an ordered to-many relationship, to be changed in place.
    ///
    /// - Parameter key: the name of an ordered to-many relationship; any other stops the program.
    /// - Returns: a proxy; changes of it, of the order too, are changes of the relationship.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { makeMutableOrderedSet(key) }

    // MARK: Changes

    /// The values of persistent properties that differ from what the store has, by key; for a new object, from the defaults.
    ///
    /// `NSNull` stands for no value. A fault has no changes, and does not fire; neither has an object of which only primitive values were
    /// set, until it is changed otherwise.
    open func changedValues() -> [String: Any] { currentChanges() }

    /// The former values of the persistent properties that changed since the context last posted changes, by key; `NSNull` stands for no value.
    ///
    /// Observers of `NSManagedObjectContextObjectsDidChange` find there what the notification is about.
    open func changedValuesForCurrentEvent() -> [String: Any] { formerValuesOfEvent() }

    /// The values of persistent properties as they were last fetched or saved, by key; `NSNull` stands for no value. Attributes
    /// and to-one relationships of an object that was never saved are not among them.
    ///
    /// - Parameter keys: the properties to give; `nil` for all.
    /// - Returns: the values, by the names of the properties.
    open func committedValues(forKeys keys: [String]?) -> [String: Any] { valuesAsCommitted(keys) }

    /// The object's entity, ID and values, for reading in a log.
    open override var description: String { describedValues() }

    /// Identity: no two objects of a context stand for the same row.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `true` for this very object.
    public final override func isEqual(_ object: Any?) -> Bool { object as? NSObject === self }

    /// The hash of the object's identity.
    public final override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) >> 4 }
}
