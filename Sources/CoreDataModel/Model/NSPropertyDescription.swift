import Foundation

/// A property of an entity: the common part of attributes, relationships, fetched properties and expressions.
///
/// A description can be changed until a coordinator uses its model; changing it afterwards stops the program.
open class NSPropertyDescription: NSObject, NSCopying {
    /// The entity that declares the property.
    ///
    /// For an inherited property this is the entity that introduced it; for one that belongs to no entity yet, an empty
    /// one without a name, where Core Data's has `nil`.
    open var entity: NSEntityDescription { owner ?? NSEntityDescription() }

    package var owner: NSEntityDescription? { ownerLink?.entity }
    private var ownerLink: EntityLink?

    /// The name, by which key-value coding and predicates find the property. Must be unique within its entity.
    open var name: String = "" {
        willSet {
            owner?.model?.bindNames()
            owner?.willRename(self, to: newValue)
            willChangeDescription()
        }
        didSet { owner?.propertiesDidChange() }
    }

    /// Whether the property may have no value when its object is saved. The default is `true`.
    open var isOptional = true { willSet { willChangeDescription() } }

    /// Whether the property is only kept in memory and never stored. The default is `false`.
    open var isTransient = false { willSet { willChangeDescription() } }

    /// Your own information about the property. It is initially empty, and can be changed by one thread while the model
    /// is in use, for example for the predicates of fetched properties.
    open var userInfo: [AnyHashable: Any]? = [:]

    /// Whether the property was marked for indexing before fetch indexes existed; an index is made for it.
    open var isIndexed = false { willSet { willChangeDescription() } }

    /// Whether the property is meant for Spotlight. It is kept with the model, and not used here.
    open var isIndexedBySpotlight = false { willSet { willChangeDescription() } }

    /// Whether the property is meant for external records. It is kept with the model, and not used here.
    open var isStoredInExternalRecord = false { willSet { willChangeDescription() } }

    /// Marks a change of meaning that the structure does not show; it is part of the version hash.
    open var versionHashModifier: String? { willSet { willChangeDescription() } }

    /// The property's name in the previous version of the model, or its own name.
    open var renamingIdentifier: String? {
        get { storedRenamingIdentifier ?? name }
        set {
            willChangeDescription()
            storedRenamingIdentifier = newValue
        }
    }

    /// The renaming identifier that was set; `nil` if the name is used.
    package private(set) var storedRenamingIdentifier: String?

    /// The predicates that a value must satisfy when its object is saved, evaluated with the value as `SELF`.
    open private(set) var validationPredicates: [NSPredicate] = []

    /// The messages or error codes for the predicates, one each, in the same order.
    open private(set) var validationWarnings: [Any] = []

    /// Sets the predicates that a value must satisfy, and the warning that goes with each.
    ///
    /// - Parameters:
    ///   - validationPredicates: the predicates, evaluated with the value as `SELF`; `nil` for none.
    ///   - validationWarnings: a message for each of the predicates, in the same order.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        setValidation(predicates: validationPredicates ?? [], warnings: validationWarnings ?? [])
    }

    package func setValidation(predicates: [NSPredicate], warnings: [Any]) {
        willChangeDescription()
        validationPredicates = predicates
        validationWarnings = warnings
    }

    /// The hash of the property's parts that a store must match.
    open var versionHash: Data { VersionHash.hash(of: self) }

    /// Creates a property without a name.
    public override init() { super.init() }

    /// What Core Data prints of a property, for logs and debuggers.
    open override var description: String { describedProperty }

    /// Whether the other object describes the same property: of the same name and kind, with the same settings and user
    /// info, in whatever entity it is.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal property.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        if other === self { return true }
        return name == other.name && versionHash == other.versionHash
            && ModelText.line(of: self) == ModelText.line(of: other) && computes(theSameAs: other)
            && ModelUserInfo(self) == ModelUserInfo(other)
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }

    /// The request of a fetched property, which a higher room defines.
    package var request: (any EntityRequest)? { nil }

    /// Whether a description of a request or an expression has the same one as another.
    package func computes(theSameAs other: NSPropertyDescription) -> Bool { true }

    /// Returns a copy that belongs to no entity.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = emptyCopy()
        copyContents(to: copy)
        return copy
    }

    /// A new instance of the same class, for `copy` to fill.
    package func emptyCopy() -> NSPropertyDescription { NSPropertyDescription() }

    /// Copies the properties that this class adds; subclasses extend it.
    package func copyContents(to copy: NSPropertyDescription) {
        copy.name = name
        copy.isOptional = isOptional
        copy.isTransient = isTransient
        copy.userInfo = userInfo
        copy.isIndexed = isIndexed
        copy.isIndexedBySpotlight = isIndexedBySpotlight
        copy.isStoredInExternalRecord = isStoredInExternalRecord
        copy.versionHashModifier = versionHashModifier
        copy.storedRenamingIdentifier = storedRenamingIdentifier
        copy.setValidation(predicates: validationPredicates, warnings: validationWarnings)
    }

    package func attach(to entity: NSEntityDescription?) { ownerLink = entity?.link }

    /// The composite attribute that contains the property as an element.
    weak var composite: NSPropertyDescription?

    /// Called by every setter: a model in use is immutable.
    package func willChangeDescription() {
        composite?.willChangeDescription()
        if let owner, owner.isFrozen {
            programmerError(
                "cannot change property “\(name)” of entity “\(owner.name ?? "")”: its model is in use by a coordinator. "
                    + "Change a copy of the model.")
        }
        owner?.model?.derived.forget()
        owner?.forgetRecordedVersionHash()
    }
}

/// A relationship of an entity to another: to-one or to-many, unordered or ordered.
open class NSRelationshipDescription: NSPropertyDescription {
    /// The entity at the other end.
    open var destinationEntity: NSEntityDescription? {
        get { storedDestination ?? destinationName.flatMap { owner?.model?.entitiesByName[$0] } }
        set {
            willChangeDescription()
            storedDestination = newValue
            destinationName = newValue?.name
        }
    }

    /// The name of the destination, for readers that have not made its entity yet.
    package var destinationName: String? { willSet { willChangeDescription() } }
    private var storedDestination: NSEntityDescription? {
        get { destinationLink?.entity }
        set { destinationLink = newValue?.link }
    }
    private var destinationLink: EntityLink?

    /// The inverse relationship.
    open var inverseRelationship: NSRelationshipDescription? {
        get {
            storedInverse
                ?? inverseName.flatMap { destinationEntity?.propertiesByName[$0] as? NSRelationshipDescription }
        }
        set {
            willChangeDescription()
            storedInverse = newValue
            inverseName = newValue?.name
        }
    }

    /// The name of the inverse, for readers that have not made it yet.
    package var inverseName: String? { willSet { willChangeDescription() } }
    private weak var storedInverse: NSRelationshipDescription?

    /// Replaces names by references to the entity and the relationship at the other end. A copy has names, if it was
    /// made before the copies of these were.
    func bind() {
        if storedDestination == nil { storedDestination = destinationEntity }
        if storedInverse == nil { storedInverse = inverseRelationship }
    }

    /// The largest number of objects in the relationship; 0 for no limit, 1 for a to-one relationship.
    open var maxCount = 0 { willSet { willChangeDescription() } }

    /// The smallest number of objects in the relationship, unless it is empty and optional.
    open var minCount = 0 { willSet { willChangeDescription() } }

    /// What happens to the destinations when the source is deleted. The default is to nullify.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { willChangeDescription() } }

    /// Whether the relationship has many destinations: its maximum count is not 1.
    open var isToMany: Bool { maxCount != 1 }

    /// Whether a to-many relationship keeps its objects in order.
    open var isOrdered = false { willSet { willChangeDescription() } }

    /// The hash of the relationship's properties that a store must match: its name, destination, inverse, counts and
    /// order, whether it is optional or transient, and its modifier.
    open override var versionHash: Data { super.versionHash }

    /// What Core Data prints of a relationship, for logs and debuggers.
    open override var description: String {
        "\(describedProperty), destination entity \(DescriptionText.value(destinationEntity?.name)), "
            + "inverseRelationship \(DescriptionText.value(inverseRelationship?.name)), minCount \(minCount), "
            + "maxCount \(maxCount), isOrdered \(DescriptionText.value(isOrdered)), deleteRule \(deleteRule.rawValue)"
    }

    package override func emptyCopy() -> NSPropertyDescription { NSRelationshipDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        guard let copy = copy as? NSRelationshipDescription else { return }
        copy.destinationName = destinationEntity?.name ?? destinationName
        copy.inverseName = inverseRelationship?.name ?? inverseName
        copy.maxCount = maxCount
        copy.minCount = minCount
        copy.deleteRule = deleteRule
        copy.isOrdered = isOrdered
    }
}
