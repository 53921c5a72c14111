import CompactCollections
import Foundation
import Ordering

extension SourceReader {
    /// The types by their names in Xcode's files.
    package static let attributeTypes: [String: NSAttributeType] = [
        "Undefined": .undefinedAttributeType, "Integer 16": .integer16AttributeType,
        "Integer 32": .integer32AttributeType, "Integer 64": .integer64AttributeType,
        "Decimal": .decimalAttributeType, "Double": .doubleAttributeType, "Float": .floatAttributeType,
        "String": .stringAttributeType, "Boolean": .booleanAttributeType, "Date": .dateAttributeType,
        "Binary": .binaryDataAttributeType, "UUID": .UUIDAttributeType, "URI": .URIAttributeType,
        "Transformable": .transformableAttributeType, "ObjectID": .objectIDAttributeType,
        "Composite": .compositeAttributeType,
    ]

    static func attributeType(
        _ name: String, _ element: SourceElement, _ place: SourceElement.Place
    ) throws -> NSAttributeType {
        if let type = attributeTypes[name] { return type }
        let known = attributeTypes.keys.sorted().joined(separator: ", ")
        throw element.error(place, "“\(name)” is no attribute type; one of \(known) expected")
    }

    static func attribute(
        _ element: SourceElement, entity: String?, composites: CompositeDefinitions, open: [String] = []
    ) throws -> PropertyDocument {
        let name = try element.requiredName(.init(entity: entity))
        let place = SourceElement.Place(entity: entity, property: name)
        let typeName = element.string("attributeType") ?? (element.name == "composite" ? "Composite" : "Undefined")
        var attribute = AttributeDocument(type: try attributeType(typeName, element, place))
        attribute.valueTransformerName = element.string("valueTransformerName")
        // Xcode writes a lone point where a module was chosen, and no class.
        attribute.customClassName = element.string("customClassName").flatMap { $0 == "." ? nil : $0 }
        attribute.valueClassName = element.string("attributeValueClassName") ?? attribute.archivedClassName
        attribute.allowsExternalStorage = try element.boolean("allowsExternalBinaryDataStorage", place)
        attribute.preservesValueOnDeletion = try element.boolean("preserveAfterDeletion", place)
        attribute.allowsCloudEncryption = element.lenientBoolean("allowsCloudEncryption")
        attribute.usesScalarType = element.lenientBoolean("usesScalarValueType")
        if try element.boolean("derived", place) {
            attribute.derivation =
                try element.string("derivationExpression")
                .map { .expression(try expressionTree($0, element, place)) } ?? .unknown
        }
        attribute.defaultValue = try defaultValue(element, attribute.type, place)
        if attribute.type == .compositeAttributeType {
            let reference = compositeReference(element)
            if element.children(named: "attribute").isEmpty { attribute.compositeName = reference }
            attribute.elements = try compositeElements(
                element, place, reference: reference, composites: composites, open: open)
        }
        var property = PropertyDocument(name: name, kind: .attribute(attribute))
        try readCommon(element, into: &property, place)
        property.isTransient = try element.boolean("transient", place)
        property.isIndexed = try element.boolean("indexed", place)
        property.validation = try attributeValidation(element, attribute.type, place)
        return property
    }

    /// The name of an attribute's composite type: Xcode writes `composite="Location"`.
    private static func compositeReference(_ element: SourceElement) -> String {
        let keys = ["composite", "compositeName", "compositeType", "compositeAttribute", "elementName", "type", "name"]
        return keys.lazy.compactMap { element.string($0) }.first ?? ""
    }

    private static func compositeElements(
        _ element: SourceElement, _ place: SourceElement.Place, reference: String, composites: CompositeDefinitions,
        open: [String]
    ) throws -> [PropertyDocument] {
        var definition = element
        var open = open
        if element.children(named: "attribute").isEmpty {
            definition = try composites.definition(reference, of: element, place, open: open)
            open.append(reference)
        }
        let parts = definition.children.filter { $0.name == "attribute" || $0.name == "composite" }
        try composites.count(parts.count, in: element, place)
        return try parts.map { try attribute($0, entity: place.entity, composites: composites, open: open) }
    }

    /// Reads the common attributes of all properties.
    static func readCommon(
        _ element: SourceElement, into property: inout PropertyDocument, _ place: SourceElement.Place
    ) throws {
        property.isOptional = try element.boolean("optional", place)
        property.versionHashModifier = element.string("versionHashModifier")
        property.renamingIdentifier = renamingIdentifier(element, name: property.name)
        property.isIndexedBySpotlight = element.lenientBoolean("spotlightIndexingEnabled")
        property.isStoredInExternalRecord = element.lenientBoolean("storedInTruthFile")
        property.userInfo = element.userInfo
    }
}
