/// What a model says about the classes of its objects: as much of it as code generation needs.
///
/// A compiled model does not have these facts any more (`NSManagedObjectModel` has no code-generation setting): they
/// come from the source of the model.
package struct RecordModel: Sendable, Equatable {
    package let entities: [RecordEntity]
    /// Where the first entity of each name is: models have thousands, and each relationship asks.
    private let indexes: [String: Int]

    package init(entities: [RecordEntity]) {
        self.entities = entities
        indexes = Dictionary(entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// The entity of a name.
    func entity(_ name: String?) -> RecordEntity? {
        name.flatMap { indexes[$0] }.map { entities[$0] }
    }

    /// The classes that are generated whole.
    package var generatedClasses: [String] {
        entities.filter { $0.codeGeneration == .class && $0.hasOwnClass }.map(\.className)
    }
}

/// An entity and how its class comes to be.
package struct RecordEntity: Sendable, Equatable {
    /// The model editor's “Codegen” setting.
    package enum CodeGeneration: Sendable, Equatable {
        /// Manual/None: the developer writes everything.
        case none
        /// Category/Extension: the developer writes the class, the properties are generated.
        case category
        /// Class Definition: everything is generated.
        case `class`
    }

    package var name: String
    /// The class as the target's sources name it; `NSManagedObject` where the entity has no class of its own.
    package var className: String
    /// The entity whose properties this one inherits.
    package var parent: String?
    package var codeGeneration: CodeGeneration
    /// Whether no other entity has its class, so that a request by the class alone says which one is meant.
    package var isOnlyOfClass = true
    package var attributes: [RecordAttribute] = []
    package var relationships: [RecordRelationship] = []
    package var fetchedProperties: [RecordFetchedProperty] = []

    package init(name: String, className: String, parent: String? = nil, codeGeneration: CodeGeneration) {
        self.name = name
        self.className = className
        self.parent = parent
        self.codeGeneration = codeGeneration
    }

    var hasOwnClass: Bool { className != "NSManagedObject" }
}

/// An attribute of an entity.
package struct RecordAttribute: Sendable, Equatable {
    /// What the model says of the values.
    package enum ValueType: Sendable, Equatable {
        case integer16, integer32, integer64, double, float, boolean, decimal, string, date, binaryData, uuid, uri
        case transformable, composite, objectID
    }

    package var name: String
    package var type: ValueType
    /// “Use Scalar Type”.
    package var isScalar: Bool
    /// The class of a transformable attribute's values.
    package var customClass: String?

    package init(name: String, type: ValueType, isScalar: Bool = false, customClass: String? = nil) {
        self.name = name
        self.type = type
        self.isScalar = isScalar
        self.customClass = customClass
    }
}

/// A relationship of an entity.
package struct RecordRelationship: Sendable, Equatable {
    package var name: String
    /// The entity at the other end.
    package var destination: String
    package var isToMany: Bool
    package var isOrdered: Bool

    package init(name: String, destination: String, isToMany: Bool = false, isOrdered: Bool = false) {
        self.name = name
        self.destination = destination
        self.isToMany = isToMany
        self.isOrdered = isOrdered
    }
}

/// A fetched property of an entity.
package struct RecordFetchedProperty: Sendable, Equatable {
    package var name: String
    /// The entity that the property fetches.
    package var destination: String?

    package init(name: String, destination: String?) {
        self.name = name
        self.destination = destination
    }
}
