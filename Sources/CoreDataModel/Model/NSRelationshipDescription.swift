import Foundation

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
