import CodeGeneration
import ModelFiles

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
