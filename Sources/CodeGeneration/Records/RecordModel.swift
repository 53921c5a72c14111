import ModelFiles

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

/// The methods that Xcode generates for a to-many relationship: `addToBooks(_:)`, `insertIntoBooks(_:at:)` …
struct RelationshipHelpers {
    let relationship: RecordRelationship
    /// The class of the related objects.
    let destination: String

    func text() -> String {
        let name = relationship.name.capitalizedFirst
        let key = PropertyKeys.reference(to: relationship.name)
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        let methods = [
            ("addTo\(name)(_ value: \(destination))", "managedAdd(value, for: \(key))"),
            ("addTo\(name)(_ values: \(set))", "managedAdd(values, for: \(key))"),
            ("removeFrom\(name)(_ value: \(destination))", "managedRemove(value, for: \(key))"),
            ("removeFrom\(name)(_ values: \(set))", "managedRemove(values, for: \(key))"),
        ]
        let ordered = [
            ("insertInto\(name)(_ value: \(destination), at idx: Int)", "managedInsert(value, at: idx, for: \(key))"),
            (
                "insertInto\(name)(_ values: [\(destination)], at indexes: NSIndexSet)",
                "managedInsert(values, at: indexes, for: \(key))"
            ),
            ("removeFrom\(name)(at idx: Int)", "managedRemove(at: idx, for: \(key))"),
            ("removeFrom\(name)(at indexes: NSIndexSet)", "managedRemove(at: indexes, for: \(key))"),
            (
                "replace\(name)(at idx: Int, with value: \(destination))",
                "managedReplace(at: idx, with: value, for: \(key))"
            ),
            (
                "replace\(name)(at indexes: NSIndexSet, with values: [\(destination)])",
                "managedReplace(at: indexes, with: values, for: \(key))"
            ),
        ]
        return (methods + (relationship.isOrdered ? ordered : []))
            .map { "    public func \($0) {\n        \($1)\n    }\n" }.joined(separator: "\n")
    }
}

/// A name in a model of which no Swift can be made, and where it stands.
package struct RecordProblem: Sendable, Hashable, CustomStringConvertible {
    package var entity: String
    /// Nil where the entity's class is meant.
    package var property: String?
    /// The problem, as a sentence without its full stop.
    package var reason: String

    /// `entity “Book”, property “title”: …`
    package var description: String {
        "entity “\(entity.escaped)”" + (property.map { ", property “\($0.escaped)”" } ?? "") + ": \(reason)"
    }
}

extension RecordModel {
    /// The reasons why classes of a model cannot be generated, or would not have the model's properties.
    ///
    /// - Parameters:
    ///   - all: whether entities count, too, for which no class is to be generated.
    ///   - knowsModule: whether names of classes omit the name of the module that they are generated for.
    /// - Returns: the problems, in the order of the entities; none when the classes can be generated.
    package func problems(all: Bool = false, knowsModule: Bool = true) -> [RecordProblem] {
        let collisions = NameCollisions(self)
        return entities.filter { all || ($0.codeGeneration != .none && $0.hasOwnClass) }.flatMap { entity in
            problems(entity, knowsModule)
                + collisions.problems(of: entity).map { property, reason in
                    RecordProblem(entity: entity.name, property: property, reason: reason)
                }
        }
    }

    private func problems(_ entity: RecordEntity, _ knowsModule: Bool) -> [RecordProblem] {
        func problem(_ property: String?, _ reason: String) -> RecordProblem {
            RecordProblem(entity: entity.name, property: property, reason: reason)
        }
        var problems: [RecordProblem] = []
        func checkClass(_ name: String?, _ property: String?, _ what: String) {
            guard let name, !SwiftIdentifier.isPath(name) else { return }
            problems.append(problem(property, "\(what) “\(name.escaped)” is not a name of a class in Swift"))
        }
        checkClass(entity.className, nil, "its class")
        if knowsModule, entity.codeGeneration == .class, entity.className.contains("."), problems.isEmpty {
            problems.append(
                problem(
                    nil, "its class “\(entity.className.escaped)” is in another module, where none can be generated"))
        }
        checkClass(self.entity(entity.parent)?.className, nil, "the class of its parent")
        for attribute in entity.attributes {
            checkName(attribute.name)
            if attribute.type == .transformable, let type = attribute.customClass, TypeExpression(type) == nil {
                problems.append(problem(attribute.name, "its custom class “\(type.escaped)” is not a type in Swift"))
            }
        }
        for relationship in entity.relationships {
            checkName(relationship.name)
            checkClass(
                self.entity(relationship.destination)?.className, relationship.name, "the class of its destination")
        }
        for property in entity.fetchedProperties {
            checkName(property.name)
            checkClass(self.entity(property.destination)?.className, property.name, "the class of what it fetches")
        }
        func checkName(_ name: String) {
            // The names of helpers begin in the middle, and their first letter may become several.
            guard !SwiftIdentifier.isIdentifier(name) || !SwiftIdentifier.isIdentifier("_" + name.capitalizedFirst)
            else {
                return
            }
            problems.append(
                problem(name, "its name is not an identifier in Swift: letters, digits and _ only, and no digit first"))
        }
        return problems
    }
}

extension RecordModel {
    /// The record classes that a model's source asks for.
    ///
    /// - Parameters:
    ///   - document: the model as a value.
    ///   - moduleName: the module for which the classes are generated; their names are given without it.
    package init(_ document: ModelDocument, moduleName: String) {
        self.init(entities: document.entities.map { RecordEntity($0, moduleName: moduleName) })
    }
}

extension RecordEntity {
    fileprivate init(_ entity: EntityDocument, moduleName: String) {
        let className = entity.className ?? "NSManagedObject"
        let prefix = moduleName + "."
        let codeGeneration: CodeGeneration =
            switch entity.codeGeneration {
            case .classDefinition: .class
            case .categoryExtension: .category
            case .none: .none
            }
        self.init(
            name: entity.name,
            className: className.hasPrefix(prefix) ? String(className.dropFirst(prefix.count)) : className,
            parent: entity.parentName, codeGeneration: codeGeneration)
        for property in entity.properties {
            switch property.kind {
            case .attribute(let attribute):
                guard let type = RecordAttribute.ValueType(attribute.type) else { continue }
                attributes.append(
                    RecordAttribute(
                        name: property.name, type: type, isScalar: attribute.usesScalarType,
                        customClass: attribute.customClassName.map {
                            Self.withoutModule(Self.withoutObjectiveCTypeArguments($0))
                        }))
            case .relationship(let relationship):
                relationships.append(
                    RecordRelationship(
                        name: property.name, destination: relationship.destinationName ?? "",
                        isToMany: relationship.isToMany, isOrdered: relationship.isOrdered))
            case .fetched(let request):
                fetchedProperties.append(
                    RecordFetchedProperty(name: property.name, destination: request?.entityName))
            }
        }
    }
}

extension RecordEntity {
    /// `NSSet` for `NSSet<NSString *>`, which a model for Objective-C may have: in Swift the class has no arguments.
    fileprivate static func withoutObjectiveCTypeArguments(_ className: String) -> String {
        guard className.contains("*"), let start = className.firstIndex(of: "<") else { return className }
        return String(className[..<start])
    }

    /// A leading point stands for the module that is compiled.
    fileprivate static func withoutModule(_ className: String) -> String {
        className.hasPrefix(".") ? String(className.dropFirst()) : className
    }
}

extension RecordAttribute.ValueType {
    /// `nil` for an undefined type, for whose values no property type is known.
    fileprivate init?(_ type: NSAttributeType) {
        switch type {
        case .integer16AttributeType: self = .integer16
        case .integer32AttributeType: self = .integer32
        case .integer64AttributeType: self = .integer64
        case .doubleAttributeType: self = .double
        case .floatAttributeType: self = .float
        case .booleanAttributeType: self = .boolean
        case .decimalAttributeType: self = .decimal
        case .stringAttributeType: self = .string
        case .dateAttributeType: self = .date
        case .binaryDataAttributeType: self = .binaryData
        case .UUIDAttributeType: self = .uuid
        case .URIAttributeType: self = .uri
        case .transformableAttributeType: self = .transformable
        case .compositeAttributeType: self = .composite
        case .objectIDAttributeType: self = .objectID
        case .undefinedAttributeType: return nil
        }
    }
}
