/// What a model says about the classes of its objects: as much of it as code generation needs.
///
/// A compiled model does not have these facts any more (`NSManagedObjectModel` has no code-generation setting), so
/// they are read from the source of the model, by `RecordModelReader`.
package struct RecordModel: Sendable, Equatable {
    package var entities: [RecordEntity]

    package init(entities: [RecordEntity]) {
        self.entities = entities
    }

    /// The entity of a name.
    func entity(_ name: String?) -> RecordEntity? {
        entities.first { $0.name == name }
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
    /// The class's name without a module; `NSManagedObject` where the entity has no class of its own.
    package var className: String
    package var parent: String?
    package var codeGeneration: CodeGeneration
    package var attributes: [RecordAttribute] = []
    package var relationships: [RecordRelationship] = []
    package var fetchedProperties: [RecordFetchedProperty] = []

    var hasOwnClass: Bool { className != "NSManagedObject" }
}

/// An attribute of an entity.
package struct RecordAttribute: Sendable, Equatable {
    package var name: String
    /// The type as the model's source has it: `Integer 16`, `String`, `Transformable` …
    package var type: String
    /// “Use Scalar Type”.
    package var isScalar = false
    /// The class of a transformable attribute's values.
    package var customClass: String?
}

/// A relationship of an entity.
package struct RecordRelationship: Sendable, Equatable {
    package var name: String
    package var destination: String
    package var isToMany = false
    package var isOrdered = false
}

/// A fetched property of an entity.
package struct RecordFetchedProperty: Sendable, Equatable {
    package var name: String
    /// The entity that the property fetches.
    package var destination: String?
}
