import Foundation

/// An index of an entity's table, over one or more properties.
open class NSFetchIndexDescription: NSObject, NSCopying {
    /// The name, unique within the entity.
    open var name: String { willSet { entity?.willChangeDescription() } }

    /// The elements of the index, in order.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { entity?.willChangeDescription() }
        didSet { adoptElements() }
    }

    /// The entity of the index.
    open internal(set) var entity: NSEntityDescription? {
        get { entityLink?.entity }
        set { entityLink = newValue?.link }
    }
    private var entityLink: EntityLink?

    /// Restricts the index to the rows that satisfy the predicate.
    open var partialIndexPredicate: NSPredicate? { willSet { entity?.willChangeDescription() } }

    /// Creates an index.
    ///
    /// - Parameters:
    ///   - name: unique within the entity.
    ///   - elements: the elements, in order.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    /// Creates an index without a name and elements, which are set afterwards.
    public override convenience init() { self.init(name: "", elements: nil) }

    private func adoptElements() {
        for element in elements { element.indexDescription = self }
    }

    /// Returns a copy that belongs to no entity; its elements name the same properties.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexDescription(
            name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }

    /// Whether the other object is an index of the same name, elements and predicate, of whatever entity.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal index.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSFetchIndexDescription else { return false }
        if other === self { return true }
        return name == other.name && elements == other.elements
            && partialIndexPredicate == other.partialIndexPredicate
    }

    /// A hash of the name.
    open override var hash: Int { name.hashValue }
}

/// One property or expression that a fetch index covers.
open class NSFetchIndexElementDescription: NSObject, NSCopying {
    /// The property: an attribute, a to-one relationship, or an expression description.
    open var property: NSPropertyDescription? {
        storedProperty ?? propertyName.flatMap { indexDescription?.entity?.propertiesByName[$0] } ?? namedProperty
    }

    /// The name of the property.
    open var propertyName: String? {
        guard let named = storedProperty ?? namedProperty else { return storedName }
        // The index's entity may be a copy, with a property of its own.
        guard let owner = named.owner, let entity = indexDescription?.entity else { return named.name }
        return sequence(first: entity, next: \.superentity).contains { $0 === owner } ? named.name : storedName
    }

    /// The name with which the element was made.
    private let storedName: String

    /// The property with which the element was made; the index's entity may be a copy with its own property.
    private weak var namedProperty: NSPropertyDescription?

    /// A strong reference for an expression, which nobody else owns.
    private var storedProperty: NSPropertyDescription?

    /// The order of the values.
    open var collationType: NSFetchIndexElementType { willSet { indexDescription?.entity?.willChangeDescription() } }

    /// Whether the index ascends.
    open var isAscending = true { willSet { indexDescription?.entity?.willChangeDescription() } }

    /// The index of the element.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// Creates an element.
    ///
    /// - Parameters:
    ///   - property: the property or expression description.
    ///   - collationType: the order of the values.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        storedProperty = property is NSExpressionDescription ? property : nil
        namedProperty = property
        storedName = property.name
        self.collationType = collationType
    }

    /// Names a property that a reader has not made yet.
    package init(propertyName: String, collationType: NSFetchIndexElementType) {
        storedName = propertyName
        self.collationType = collationType
    }

    /// Refers to its property, whose name is about to change.
    func bind() { namedProperty = property }

    /// Returns a copy that belongs to no index.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexElementDescription(propertyName: propertyName ?? "", collationType: collationType)
        copy.storedProperty = storedProperty
        copy.isAscending = isAscending
        return copy
    }

    /// Whether the other object indexes a property of the same name, or an equal expression, in the same way.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal element.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSFetchIndexElementDescription else { return false }
        if other === self { return true }
        return propertyName == other.propertyName && storedProperty == other.storedProperty
            && collationType == other.collationType && isAscending == other.isAscending
    }

    /// A hash of the property's name.
    open override var hash: Int { propertyName.hashValue }
}

/// A computed column of a dictionary fetch: the value of an expression, under a name.
open class NSExpressionDescription: NSPropertyDescription {
    /// The computation.
    open var expression: NSExpression? { willSet { willChangeDescription() } }

    /// The type of the result.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { willChangeDescription() } }

    /// The type of the result, with Swift's names.
    open var resultType: NSAttributeDescription.AttributeType {
        get { .init(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    package override func computes(theSameAs other: NSPropertyDescription) -> Bool {
        guard let other = other as? NSExpressionDescription else { return false }
        return expression == other.expression && expressionResultType == other.expressionResultType
    }

    package override func emptyCopy() -> NSPropertyDescription { NSExpressionDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        guard let copy = copy as? NSExpressionDescription else { return }
        copy.expression = expression
        copy.expressionResultType = expressionResultType
    }
}
