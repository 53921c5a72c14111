import Foundation
import Synchronization

/// An object of the graph: the values of one row, and its relationships to other objects of the same context.
///
/// Subclass it for typed properties, or use it as it is through key-value coding. An object belongs to the queue of
/// its context.
open class NSManagedObject: NSObject, NSFetchRequestResult, NSKeyValueObserving {
    // MARK: State

    // Exclusivity is not checked at run time: each access would cost a call, and accessors make three. An object
    // belongs to one queue, and none of the properties is passed `inout` to code that could access the object again.

    /// The layout, which the table or the ID retains: accessors use it for each value without retaining it.
    @exclusivity(unchecked) final var unretainedLayout: Unmanaged<EntityLayout>
    /// The store, retained in the same way; `nil` for an object that was never saved.
    @exclusivity(unchecked) final var unretainedStore: Unmanaged<StoreIdentity>?
    /// The primary key, or the number of a temporary ID.
    @exclusivity(unchecked) final var key: Int64
    /// The ID, retained, once it was needed, on any thread.
    final let madeIdentifier: Atomic<Unmanaged<NSManagedObjectID>?>
    /// The state shared with the context; `nil` without a context.
    @exclusivity(unchecked) final private(set) var table: ObjectTable?
    /// The values by slot; empty for a fault whose values have not been fetched.
    @exclusivity(unchecked) package final var values: ContiguousArray<StoredValue>
    /// The store's values; the same buffer as `values` until one is changed.
    @exclusivity(unchecked) package final var snapshot: ContiguousArray<StoredValue>
    /// By relationship; empty until a relationship is first used.
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
    ///   - entity: the entity of the object. It may be abstract: that only says what is intended.
    ///   - context: the context to insert it into; `nil` makes an object without a context, for `insert(_:)` later.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if let context, let identity = context.materialization.identity {
            unretainedLayout = identity.layout
            unretainedStore = identity.store
            key = identity.key
            madeIdentifier = Atomic(identity.identifier.map { .passRetained($0) })
            version = context.materialization.version
            state = context.materialization.state
            stamp = context.materialization.stamp
            let stored = context.materialization.finish()
            values = identity.layout._withUnsafeGuaranteedRef { $0.withTransientDefaults(stored) }
            snapshot = values
            table = context.table
            super.init()
            return
        }
        let layout = NSManagedObject.layout(of: entity)
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
    /// - Parameter moc: the context to insert it into; its model must have exactly one entity for the class. For a
    ///   context without a coordinator, the entity is looked up in the models in use.
    public convenience init(context moc: NSManagedObjectContext) {
        self.init(entity: moc.descriptionForNewObject(of: Self.self), insertInto: moc)
    }

    /// Creates an object of a class that is only known at run time. It is used for fetched objects, and for new ones in
    /// generic code; programs need not call it. Subclasses that define `init(entity:insertInto:)` inherit it.
    ///
    /// - Parameter moc: the context that determines the object's properties.
    public required convenience init(materializedIn moc: NSManagedObjectContext) {
        self.init(entity: moc.descriptionForNewObject(of: Self.self), insertInto: moc)
    }

    deinit {
        table?.remove(self)
        if state.contains(.observed) { ObservationInfo.forget(self) }
        madeIdentifier.load(ordering: .acquiring)?.release()
    }

    package final var storedContext: NSManagedObjectContext? { table?.context }

    /// Sets or removes the object's context.
    final func setContext(_ context: NSManagedObjectContext?) {
        if let context { context.keep(unretainedLayout, unretainedStore) } else if table != nil { _ = identifier }
        table = context?.table
    }

    /// The entity that names this class, in the models in use.
    ///
    /// Stops the program if no model has one.
    open class func entity() -> NSEntityDescription { ManagedClasses.entity(for: self).description }

    /// The class's name with its module, `App.Book`, as in `managedObjectClassName`.
    open class func description() -> String { String(reflecting: self) }

    /// A request for all objects of the entity that names this class.
    ///
    /// Classes that Xcode generates have a typed method of the same name, which is preferred where both apply.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity()
        return request
    }

    /// Whether changes of properties that are not in the model leave the object unchanged. `true`.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    // MARK: Identity

    /// The object's entity.
    open var entity: NSEntityDescription { layout.description }

    package final var layout: EntityLayout { unretainedLayout.takeUnretainedValue() }

    /// The object's ID; temporary until it is first saved.
    open var objectID: NSManagedObjectID { identifier }

    /// The object's context; `nil` if that was released, or the object was deleted and saved.
    open var managedObjectContext: NSManagedObjectContext? { storedContext }

    /// Whether the object is new and will be written by the next save; in `didSave()`, whether that save wrote it as
    /// new.
    open var isInserted: Bool { isUnsavedInsertion || state.contains(.savedAsInserted) && !state.contains(.deleted) }

    /// Whether the object is new and no save has written it, also in `didSave()`.
    final var isUnsavedInsertion: Bool { state.contains(.inserted) && !state.contains(.deleted) }

    /// Whether the object is changed and will be written by the next save; in `didSave()`, whether that save wrote the
    /// change.
    open var isUpdated: Bool {
        !state.isDisjoint(with: [.updated, .savedAsUpdated]) && state.isDisjoint(with: [.inserted, .deleted])
    }

    /// Whether the object will be deleted by the next save.
    open var isDeleted: Bool { state.contains(.deleted) }

    /// Whether the object is new, changed, or marked for deletion.
    open var hasChanges: Bool { !state.isDisjoint(with: .anyChange) }

    /// Whether any stored property differs from the store.
    open var hasPersistentChangedValues: Bool { hasTrackedChanges && hasPersistentChanges }

    /// Whether the object has not taken its values yet.
    open var isFault: Bool { state.contains(.fault) }

    /// Nonzero while the object is a fault, or is becoming one.
    open var faultingState: Int { isFault ? 1 : 0 }

    /// Whether a relationship has not been loaded yet.
    ///
    /// - Parameter key: the name of a relationship; any other stops the program.
    /// - Returns: `true` as long as reading the relationship would ask the store.
    open func hasFault(forRelationshipNamed key: String) -> Bool { isUnloaded(key) }

    /// The IDs of the objects at the other end of a relationship, without loading these.
    ///
    /// - Parameter key: the name of a relationship; any other stops the program.
    /// - Returns: the IDs, in no particular order; empty for an empty relationship.
    open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { identifiers(atEndOf: key) }

    // MARK: Life cycle, for subclasses

    /// Called once, after the object was first inserted into a context. Set initial values here; call `super`.
    open func awakeFromInsert() {}

    /// Called after the object took its values from a store. Derive transient values here; call `super`.
    ///
    /// Setters called here change only values: neither the object nor its context becomes changed, nothing is
    /// registered for undo, and inverses of relationships are not set.
    open func awakeFromFetch() {}

    /// Called after the object's values were reset by an undo, a refresh or a rollback. Setters work as in
    /// `awakeFromFetch`.
    ///
    /// - Parameter flags: the reasons for the reset.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called before the object is marked as deleted, with its relationships still there.
    open func prepareForDeletion() {}

    /// Called before a save, also for objects that the save deletes. Changes made here are saved too.
    open func willSave() {}

    /// Called after a save, also for objects that it deleted. `isInserted`, `isUpdated` and `isDeleted` say what the
    /// save did, until all its objects were called.
    open func didSave() {}

    /// Called before the object becomes a fault.
    open func willTurnIntoFault() {}

    /// Called after the object became a fault.
    open func didTurnIntoFault() {}

    // MARK: Validation, for subclasses

    /// Checks a value for a property: by the model's rules, then by the class's validator of that name, such as
    /// `validateTitle(_:)` for `title`, and, in a subclass, by any others.
    ///
    /// CoreDataPlugin finds the validators: methods with one parameter of the type
    /// `AutoreleasingUnsafeMutablePointer<AnyObject?>`, which throw.
    ///
    /// A save asks an override about every property except unchanged to-many relationships; the override asks `super`
    /// for the model's rules.
    ///
    /// - Parameters:
    ///   - value: points to the property's new value; a replacement may be written there, which a save does not take.
    ///   - key: the property.
    /// - Throws: an error with a code from `NSManagedObjectValidationError` to `NSValidationInvalidURIError`.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateByModel(value.pointee, forKey: key)
        try ValidatorTable.validate(self, value, forKey: key)
    }

    /// Keys beside those of the properties to pass to an override of `validateValue(_:forKey:)` before a save.
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

    /// The value of a property, reading its relationships and the store if necessary. Numbers are returned as
    /// `NSNumber`.
    ///
    /// - Parameter key: the name of a property; for any other key, `value(forUndefinedKey:)` is called.
    /// - Returns: the value; `nil` for none, a set for an unordered to-many relationship.
    open func value(forKey key: String) -> Any? { modeledValue(forKey: key) }

    /// Sets a property. A value of a wrong type is refused when the object is saved.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: the name of a property; for any other key, `setValue(_:forUndefinedKey:)` is called.
    open func setValue(_ value: Any?, forKey key: String) { setModeledValue(value, forKey: key) }

    /// The value of a key that the entity does not have. By default, stops the program.
    ///
    /// - Parameter key: a key that names no property.
    /// - Returns: what a subclass computes for the key.
    open func value(forUndefinedKey key: String) -> Any? { unknownKey(key) }

    /// Sets the value of a key that the entity does not have. By default, stops the program.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: a key that names no property.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { unknownKey(key) }

    /// Called by code that sets a property of a non-optional type to nil. By default, stops the program. Nothing in
    /// Core Data calls it here, since every modeled property accepts `nil` until it is saved.
    ///
    /// - Parameter key: the name of the property.
    open func setNilValueForKey(_ key: String) {
        programmerError(
            "“\(layout.name).\(key)” has a type without nil; override setNilValueForKey(_:) to give it a value")
    }

    /// The value at the end of a path of keys. A to-many relationship on the path gives the values of all its objects,
    /// and an operator (`books.@avg.price`) a value computed from these, as in the key-value coding guide: `@avg` and
    /// `@sum` count missing values as zero, `@max` and `@min` ignore them.
    ///
    /// ```swift
    /// let prices = author.value(forKeyPath: "books.price")            // a set of numbers
    /// let average = author.value(forKeyPath: "books.@avg.price") as? Double
    /// ```
    ///
    /// - Parameter keyPath: names of properties with dots between them, and operators.
    /// - Returns: the value; `nil` if the path leads to no object or to no value.
    open func value(forKeyPath keyPath: String) -> Any? { value(atEndOf: keyPath) }

    /// Sets the value at the end of a path of keys, for every object of a to-many relationship on the path. If a to-one
    /// relationship on the path has no destination, nothing is set.
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

    /// The value in memory, without firing a fault or following a relationship; the objects of a fetched property.
    ///
    /// - Parameter key: the name of a property; any other stops the program.
    /// - Returns: the value; `nil` for none, and for a fault that has not taken its values yet.
    open func primitiveValue(forKey key: String) -> Any? { unloadedValue(forKey: key) }

    /// Sets a value without informing the context; for custom accessors, between `willChangeValue` and
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

    /// Fires the fault if necessary; for custom accessors, before `primitiveValue(forKey:)`.
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

    /// Called after every change of a property. Custom accessors call it themselves. Overrides call `super`, which
    /// notifies observers.
    ///
    /// - Parameter key: the property.
    open func didChangeValue(forKey key: String) { if state.contains(.observed) { notifyDidChange(key) } }

    /// The key paths on which a computed property depends: its observers are notified of their changes. Overrides name
    /// the computed property, since methods named `keyPathsForValuesAffecting<Key>` are not found.
    ///
    /// - Parameter key: the name of the computed property.
    /// - Returns: key paths from the same object; by default an empty set.
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    /// Whether observers are notified of a property's changes without calls of `willChangeValue` and `didChangeValue`.
    /// `false`: accessors of modeled properties make these calls, and custom accessors must make them.
    ///
    /// - Parameter key: the name of the property.
    /// - Returns: `false`, for every property.
    open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }

    /// For custom accessors of to-many relationships, before members are added or removed.
    ///
    /// - Parameters:
    ///   - inKey: the relationship.
    ///   - inMutationKind: the kind of change.
    ///   - inObjects: the added or removed members.
    open func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { willChangeSet(inKey, inMutationKind, inObjects) }

    /// For custom accessors of to-many relationships, after members were added or removed.
    ///
    /// - Parameters:
    ///   - inKey: the relationship.
    ///   - inMutationKind: the kind of change.
    ///   - inObjects: the added or removed members.
    open func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { didChangeValue(forKey: inKey) }

    /// For custom accessors of ordered relationships, before members are added, removed or replaced.
    ///
    /// - Parameters:
    ///   - changeKind: the kind of change.
    ///   - indexes: the indexes of the members before or after the change.
    ///   - key: the relationship.
    open func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        willChangeMembers(key, changeKind, indexes)
    }

    /// For custom accessors of ordered relationships, after members were added, removed or replaced.
    ///
    /// - Parameters:
    ///   - changeKind: the kind of change.
    ///   - indexes: the indexes of the members before or after the change.
    ///   - key: the relationship.
    open func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        didChangeValue(forKey: key)
    }

    // MARK: Observers

    /// Notifies an observer of changes of a value, on the queue of the object, until it is removed. Neither observer
    /// nor object is kept alive.
    ///
    /// Observers are notified of changes by accessors, by key, and of relationships from either end; of those by undo,
    /// rollback, refreshing and merging; and when an object becomes a fault, and when it takes its values.
    ///
    /// - Parameters:
    ///   - observer: the observer.
    ///   - keyPath: the names of properties, with dots between them if they lead through to-one relationships.
    ///   - options: the content of the notifications.
    ///   - context: a pointer that is passed with each notification.
    open func addObserver(
        _ observer: any NSKeyValueObserving, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) { register(observer, keyPath, options, context) }

    /// Ends an observer's registration for a key path. Without such a registration, stops the program.
    ///
    /// - Parameters:
    ///   - observer: the observer.
    ///   - keyPath: the key path.
    ///   - context: the pointer that was passed at registration.
    open func removeObserver(
        _ observer: any NSKeyValueObserving, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
    ) { unregister(observer, keyPath, context: .some(context)) }

    /// Ends an observer's registration for a key path. Without such a registration, stops the program.
    ///
    /// - Parameters:
    ///   - observer: the observer.
    ///   - keyPath: the key path.
    open func removeObserver(_ observer: any NSKeyValueObserving, forKeyPath keyPath: String) {
        unregister(observer, keyPath)
    }

    /// Called for changes of observed properties, for subclasses. A change that no subclass handles stops the program.
    ///
    /// - Parameters:
    ///   - keyPath: the observed key path.
    ///   - object: the object at which it starts.
    ///   - change: what changed.
    ///   - context: the pointer that was passed at registration.
    open func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        programmerError("a \(layout.name) observes “\(keyPath ?? "")” and does not override observeValue for it")
    }

    /// Not `nil` while the object has observers; the pointer has no other use.
    open var observationInfo: UnsafeMutableRawPointer? { pointerToObservers }

    /// The set of a to-many relationship, to be changed in place.
    ///
    /// - Parameter key: the name of an unordered to-many relationship; any other stops the program.
    /// - Returns: a proxy; changes of it are changes of the relationship.
    open func mutableSetValue(forKey key: String) -> NSMutableSet { makeMutableSet(key) }

    /// The ordered set of an ordered to-many relationship, to be changed in place.
    ///
    /// - Parameter key: the name of an ordered to-many relationship; any other stops the program.
    /// - Returns: a proxy; changes of it, and of its order, are changes of the relationship.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { makeMutableOrderedSet(key) }

    // MARK: Changes

    /// The values of persistent properties that differ from the store, by key; for a new object, from the defaults.
    ///
    /// `NSNull` stands for no value. A fault has no changes, and is not fired. Nor are there changes in an object of
    /// which only primitive values were set, until it is changed in another way.
    open func changedValues() -> [String: Any] { currentChanges() }

    /// The former values of the persistent properties that changed since the context last posted changes, by key;
    /// `NSNull` stands for no value.
    ///
    /// Observers of `NSManagedObjectContextObjectsDidChange` can read here what the notification is about.
    open func changedValuesForCurrentEvent() -> [String: Any] { formerValuesOfEvent() }

    /// The values of persistent properties as they were last fetched or saved, by key; `NSNull` stands for no value.
    /// Attributes and to-one relationships of an object that was never saved are left out.
    ///
    /// - Parameter keys: the properties to return; `nil` for all.
    /// - Returns: the values, by the names of the properties.
    open func committedValues(forKeys keys: [String]?) -> [String: Any] { valuesAsCommitted(keys) }

    /// The object's address, entity, ID and values, for logs. It fires no fault, and reads no relationship.
    open override var description: String { describedValues() }

    /// Identity: no two objects of a context stand for the same row.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `true` only for the same object.
    public final override func isEqual(_ object: Any?) -> Bool { object as? NSObject === self }

    /// The hash of the object's identity.
    public final override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) >> 4 }
}
