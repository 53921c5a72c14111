import CPippinRuntime
import Foundation
import Synchronization

/// An entity of a model: Core Data's description of one kind of object.
///
/// An entity can be changed until a coordinator uses its model; changing it afterwards stops the program.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: frozen before more than one thread can see it (see `willChangeDescription`).

    /// The name, unique within the model.
    open var name: String? {
        willSet {
            model?.bindNames()
            willChangeDescription()
        }
        didSet { if let oldValue { model?.renameInConfigurations(oldValue, to: name) } }
    }

    /// Whether only subentities are meant to have objects. Nothing prevents objects of the entity itself, which are
    /// saved and fetched like others.
    open var isAbstract = false { willSet { willChangeDescription() } }

    /// The name of the class of the entity's objects; `NSManagedObject` by default.
    open var managedObjectClassName: String! {
        get { storedClassName ?? "NSManagedObject" }
        set {
            willChangeDescription()
            storedClassName = newValue
        }
    }

    private var storedClassName: String?

    /// The name of the class that objects really have: a migration's are plain managed objects.
    package var objectClassName: String { model?.objectClassName ?? managedObjectClassName }

    /// Your own information about the entity. It is initially empty, and can be changed by one thread while the model
    /// is in use, for example for the predicates of fetched properties.
    open var userInfo: [AnyHashable: Any]? = [:]

    /// Marks a change of meaning that the structure does not show; it is part of the version hash.
    open var versionHashModifier: String? { willSet { willChangeDescription() } }

    /// The entity's name in the previous version of the model, or its own name.
    open var renamingIdentifier: String? {
        get { storedRenamingIdentifier ?? name }
        set {
            willChangeDescription()
            storedRenamingIdentifier = newValue
        }
    }

    /// The renaming identifier that was set; `nil` if the name is used.
    package private(set) var storedRenamingIdentifier: String?

    /// The model of the entity.
    open var managedObjectModel: NSManagedObjectModel {
        guard let model else { programmerError("entity “\(name ?? "")” belongs to no model yet") }
        return model
    }

    package internal(set) weak var model: NSManagedObjectModel? {
        willSet { if newValue !== model { model?.derived.forget() } }
    }

    /// The entity whose properties this one inherits.
    open var superentity: NSEntityDescription? { parent }
    private var parent: NSEntityDescription? {
        get { parentLink?.entity }
        set {
            parentLink = newValue?.link
            model?.derived.forget()
        }
    }
    private var parentLink: EntityLink?

    /// Lets properties, indexes and subentities find the entity.
    let link = EntityLink()

    /// The direct subentities.
    open var subentities: [NSEntityDescription] = [] {
        willSet { willChangeDescription() }
        didSet {
            for former in oldValue where former.parent === self { former.parent = nil }
            refuseCircle()
            for child in subentities { child.parent = self }
            for former in oldValue { former.propertiesDidChange() }
            propertiesDidChange()
        }
    }

    /// Stops the program if the entity would inherit from itself.
    private func refuseCircle() {
        var ancestor: NSEntityDescription? = self
        while let entity = ancestor {
            if subentities.contains(where: { $0 === entity }) {
                programmerError(
                    "“\(entity.name ?? "")” cannot be a subentity of “\(name ?? "")”: it would inherit from itself.")
            }
            ancestor = entity.parent
        }
    }

    /// The direct subentities by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The properties that the entity itself declares, without inherited ones, in order.
    package private(set) var ownProperties: [NSPropertyDescription] = []

    /// The properties: inherited ones first, then the entity's own. Setting them sets the entity's own.
    open var properties: [NSPropertyDescription] {
        get { (superentity?.properties ?? []) + ownProperties }
        set {
            willChangeDescription()
            for former in ownProperties where former.owner === self { former.attach(to: nil) }
            let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
            ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
            for property in ownProperties { property.attach(to: self) }
            propertiesDidChange()
        }
    }

    /// All properties by name, including inherited ones.
    open var propertiesByName: [String: NSPropertyDescription] {
        if let cachedPropertiesByName { return cachedPropertiesByName }
        let byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, own in own })
        // Only a frozen entity is shared between threads, and freezing fills the cache first.
        if !isFrozen { cachedPropertiesByName = byName }
        return byName
    }

    private var cachedPropertiesByName: [String: NSPropertyDescription]?

    /// All attributes by name, including inherited ones.
    open var attributesByName: [String: NSAttributeDescription] {
        propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    }

    /// All relationships by name, including inherited ones.
    open var relationshipsByName: [String: NSRelationshipDescription] {
        propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    /// The relationships that lead to an entity.
    ///
    /// - Parameter entity: the destination; relationships to its superentities are not included.
    /// - Returns: the relationships; empty if there is none.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    /// Whether the entity is another one or inherits from it.
    ///
    /// - Parameter entity: the other entity, of this model or of a copy.
    /// - Returns: `true` also for the entity itself.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        var ancestor: NSEntityDescription? = self
        while let current = ancestor {
            if current === entity || (current.name == entity.name && current.model !== entity.model) { return true }
            ancestor = current.superentity
        }
        return false
    }

    /// The constraints: sets of attributes (names or descriptions) whose values must be unique together.
    open var uniquenessConstraints: [[Any]] = [] { willSet { willChangeDescription() } }

    /// The constraints as attribute names.
    package var uniquenessConstraintNames: [[String]] {
        uniquenessConstraints.map { constraint in
            constraint.compactMap { ($0 as? NSPropertyDescription)?.name ?? ($0 as? String) }
        }
    }

    /// The indexes of the entity's table.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { willChangeDescription() }
        didSet { for index in indexes { index.entity = self } }
    }

    /// Indexes over several properties (names or descriptions), from before fetch indexes existed.
    open var compoundIndexes: [[Any]] = [] { willSet { willChangeDescription() } }

    /// The version hash that Apple's tools computed, if the model file contains one.
    package var recordedVersionHash: Data? { didSet { model?.derived.forget() } }

    /// The hash of the entity's properties that a store must match: Apple's if the model file contains it, otherwise
    /// our own.
    open var versionHash: Data { recordedVersionHash ?? ownVersionHash }

    /// The expression for the name under which Spotlight shows an object; nil for none. It is kept with the model, and
    /// not used here.
    open var coreSpotlightDisplayNameExpression: NSExpression? { willSet { willChangeDescription() } }

    /// Creates an entity without a name.
    public override init() {
        super.init()
        link.join(self)
    }

    deinit { link.leave() }

    /// What Core Data prints of an entity with its properties and subentities, for logs and debuggers.
    open override var description: String { describedEntity }

    /// Whether the other object describes the same entity: with equal properties, superentity, indexes, constraints and
    /// user info, in whatever model it is. Two entities that were read from one file are equal.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal entity.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        if other === self { return true }
        return name == other.name && versionHash == other.versionHash && ModelText(self) == ModelText(other)
            && ModelUserInfo(self) == ModelUserInfo(other)
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }

    /// Returns a deep copy, including subentities, that belongs to no model.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSEntityDescription()
        copy.name = name
        copy.isAbstract = isAbstract
        copy.storedClassName = storedClassName
        copy.userInfo = userInfo
        copy.versionHashModifier = versionHashModifier
        copy.storedRenamingIdentifier = storedRenamingIdentifier
        copy.properties = ownProperties.compactMap { $0.copy() as? NSPropertyDescription }
        copy.uniquenessConstraints = uniquenessConstraintNames
        copy.indexes = indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
        copy.compoundIndexes = compoundIndexes
        copy.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
        copy.subentities = subentities.compactMap { $0.copy() as? NSEntityDescription }
        copy.recordedVersionHash = recordedVersionHash
        return copy
    }

    /// The form that stores and objects use, made when a coordinator takes the model; see `layout`.
    package var compiled: AnyObject?

    package private(set) var isFrozen = false

    /// Makes the entity immutable; its model calls this when a coordinator takes it.
    package func freeze() {
        _ = propertiesByName
        isFrozen = true
    }

    package func propertiesDidChange() {
        cachedPropertiesByName = nil
        for child in subentities { child.propertiesDidChange() }
    }

    package func willChangeDescription() {
        if isFrozen {
            programmerError(
                "cannot change entity “\(name ?? "")”: its model is in use by a coordinator. Change a copy of the model."
            )
        }
        model?.derived.forget()
        forgetRecordedVersionHash()
    }

    /// Removes recorded hashes: they are those of the entity as it was read, and no longer apply to a changed entity
    /// and its descendants.
    package func forgetRecordedVersionHash() {
        if recordedVersionHash != nil { recordedVersionHash = nil }
        for child in subentities { child.forgetRecordedVersionHash() }
    }
}

extension NSEntityDescription {
    /// The entity and all its descendants.
    package var selfAndDescendants: [NSEntityDescription] { [self] + subentities.flatMap(\.selfAndDescendants) }

    /// The entity at the top of the inheritance tree.
    package var rootEntity: NSEntityDescription { superentity?.rootEntity ?? self }
}

extension NSEntityDescription {
    /// Called before a property gets another name, which indexes and constraints have, too: those of a copy name it.
    func willRename(_ property: NSPropertyDescription, to name: String) {
        let former = property.name
        guard !isFrozen, former != name else { return }
        for element in indexes.flatMap(\.elements) where element.property === property { element.bind() }
        func renamed(_ lists: [[Any]]) -> [[Any]] { lists.map { $0.map { $0 as? String == former ? name : $0 } } }
        if propertiesByName[former] === property {
            if !uniquenessConstraints.isEmpty { uniquenessConstraints = renamed(uniquenessConstraints) }
            if !compoundIndexes.isEmpty { compoundIndexes = renamed(compoundIndexes) }
        }
        for child in subentities { child.willRename(property, to: name) }
    }
}

/// A fetch request, as far as a model knows it: a higher room defines it.
package protocol EntityRequest: AnyObject {
    var entityName: String? { get }

    /// All that it asks for, as text.
    var summary: String { get }

    /// Asks for the objects of an entity, which may be another model's of the same name, and for its properties.
    func lead(to entity: NSEntityDescription)
}

/// Lets the parts of an entity find it without keeping it alive.
///
/// A weak reference would work too, but an entity that has one counts its references in a side table from then on, and
/// each object of the entity counts four of them. The entity itself owns the link, and clears it in its `deinit`.
final class EntityLink: Sendable {
    private let address = Mutex<ObjectIdentifier?>(nil)

    /// Sets the entity, which calls `leave` when it is released.
    func join(_ entity: NSEntityDescription) {
        let identity = ObjectIdentifier(entity)
        address.withLock { $0 = identity }
    }

    /// Clears the entity when it is released.
    func leave() { address.withLock { $0 = nil } }

    /// The entity; `nil` if it has been released.
    ///
    /// An entity whose `deinit` has begun waits for the lock before its memory is freed, so the address is valid, and
    /// the runtime says whether it can still be retained.
    var entity: NSEntityDescription? {
        address.withLock { address in
            guard let address, let pointer = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: address)),
                let object = swift_tryRetain(pointer)
            else { return nil }
            return Unmanaged<NSEntityDescription>.fromOpaque(object).takeRetainedValue()
        }
    }
}
