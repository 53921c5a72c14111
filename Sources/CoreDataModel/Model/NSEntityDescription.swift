import Foundation

/// An entity of a model: what Core Data knows about one kind of object.
///
/// An entity can be changed until a coordinator uses its model; changing it afterwards stops the program.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: frozen before more than one thread can see it (see `willChangeDescription`).

    /// The name, unique within the model.
    open var name: String? {
        willSet {
            model?.bindRelationships()
            willChangeDescription()
        }
        didSet { if let oldValue { model?.renameInConfigurations(oldValue, to: name) } }
    }

    /// Whether there are objects of subentities only.
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

    /// Facts of the developer's own about the entity. Empty at first, and open to changes while the model is in use, by one
    /// thread (CoreDataPlus's tests tell fetched properties so what to look for).
    open var userInfo: [AnyHashable: Any]? = [:]

    /// Marks a change of meaning that the structure does not show; part of the version hash.
    open var versionHashModifier: String? { willSet { willChangeDescription() } }

    /// The name that the entity has in the previous version of the model, or its own name.
    open var renamingIdentifier: String? {
        get { storedRenamingIdentifier ?? name }
        set {
            willChangeDescription()
            storedRenamingIdentifier = newValue
        }
    }

    /// The renaming identifier as it was set, `nil` where the name stands for it.
    package private(set) var storedRenamingIdentifier: String?

    /// The model that the entity belongs to.
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

    /// How properties, indexes and subentities find the entity.
    let link = EntityLink()

    /// The entities that inherit from this one directly.
    open var subentities: [NSEntityDescription] = [] {
        willSet { willChangeDescription() }
        didSet {
            for former in oldValue where former.parent === self { former.parent = nil }
            refuseCircle()
            for child in subentities { child.parent = self }
            propertiesDidChange()
        }
    }

    /// Stops the program where the entity would inherit from itself.
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

    /// The properties that the entity itself declares, inherited ones left out, in order.
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

    /// All properties by name, inherited ones included.
    open var propertiesByName: [String: NSPropertyDescription] {
        if let cachedPropertiesByName { return cachedPropertiesByName }
        let byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, own in own })
        // Only a frozen entity is shared between threads, and freezing fills the cache first.
        if !isFrozen { cachedPropertiesByName = byName }
        return byName
    }

    private var cachedPropertiesByName: [String: NSPropertyDescription]?

    /// All attributes by name, inherited ones included.
    open var attributesByName: [String: NSAttributeDescription] {
        propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    }

    /// All relationships by name, inherited ones included.
    open var relationshipsByName: [String: NSRelationshipDescription] {
        propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    /// The relationships that lead to an entity.
    ///
    /// - Parameter entity: the destination; relationships to entities that it inherits from are not among them.
    /// - Returns: the relationships; none when no relationship leads there.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    /// Whether the entity is another one or inherits from it.
    ///
    /// - Parameter entity: the other entity, of this model or of a copy.
    /// - Returns: `true` for the entity itself, too.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        var ancestor: NSEntityDescription? = self
        while let current = ancestor {
            if current === entity || (current.name == entity.name && current.model !== entity.model) { return true }
            ancestor = current.superentity
        }
        return false
    }

    /// The constraints: sets of attributes (names or descriptions) whose values no two objects may share.
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

    /// Indexes over several properties (names or descriptions), as they were before fetch indexes existed.
    open var compoundIndexes: [[Any]] = [] { willSet { willChangeDescription() } }

    /// The version hash that Apple's tools computed, where a model file carries one.
    package var recordedVersionHash: Data? { didSet { model?.derived.forget() } }

    /// The hash of what a store must agree on about the entity: Apple's where the model file carries it, our own
    /// otherwise.
    open var versionHash: Data { recordedVersionHash ?? ownVersionHash }

    /// Creates an entity without a name.
    public override init() {
        super.init()
        link.join(self)
    }

    deinit { link.leave() }

    /// Returns a deep copy that belongs to no model, subentities included.
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

    /// A recorded hash is that of the entity as it was read; a changed entity, and what inherits from it, has another.
    package func forgetRecordedVersionHash() {
        if recordedVersionHash != nil { recordedVersionHash = nil }
        for child in subentities { child.forgetRecordedVersionHash() }
    }
}
