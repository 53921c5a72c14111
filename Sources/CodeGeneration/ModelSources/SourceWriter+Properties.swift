import Foundation
import ModelFiles

extension SourceWriter {
    static func attribute(
        _ property: PropertyDocument, _ attribute: AttributeDocument, isIndexed: Bool
    ) -> XMLElementText {
        var element = named("attribute", "name", property.name)
        element.set("optional", property.isOptional)
        element.set("transient", property.isTransient)
        element.set("attributeType", SourceValueText.name(of: attribute.type))
        element.set("composite", attribute.compositeName)
        let bounds = SourceValidation(property.validation, type: attribute.type)
        for (name, value) in bounds.attributes where name != SourceValidation.patternKey { element.set(name, value) }
        if let value = attribute.defaultValue {
            let key = attribute.type == .dateAttributeType ? "defaultDateTimeInterval" : "defaultValueString"
            element.set(key, SourceValueText.text(of: value, type: attribute.type))
        }
        element.set(SourceValidation.patternKey, bounds.pattern)
        if let derivation = attribute.derivation {
            element.set("derived", true)
            if case .expression(let tree) = derivation { element.set("derivationExpression", tree.format) }
        }
        if SourceValueText.hasScalarType(attribute.type) {
            element.set("usesScalarValueType", attribute.usesScalarType ? "YES" : "NO")
        }
        element.set("valueTransformerName", attribute.valueTransformerName)
        element.set("customClassName", attribute.customClassName)
        if attribute.valueClassName != attribute.customClassName {
            element.set("attributeValueClassName", attribute.valueClassName)
        }
        element.set("allowsExternalBinaryDataStorage", attribute.allowsExternalStorage)
        element.set("allowsCloudEncryption", attribute.allowsCloudEncryption)
        element.set("preserveAfterDeletion", attribute.preservesValueOnDeletion)
        setMarks(of: property, on: &element)
        element.set("indexed", isIndexed)
        setVersioning(of: property, on: &element)
        element.children += userInfo(property.userInfo)
        return element
    }

    /// `<composite name="Location"><attribute name="latitude"…`: the elements in their order, which is that of the
    /// columns.
    static func composite(_ type: CompositeTypes.Definition) -> XMLElementText {
        var element = named("composite", "name", type.name)
        element.children = type.elements.compactMap { part in
            part.attribute.map { attribute(part, $0, isIndexed: part.isIndexed) }
        }
        return element
    }

    static func relationship(_ property: PropertyDocument, _ relationship: RelationshipDocument) -> XMLElementText {
        var element = named("relationship", "name", property.name)
        element.set("optional", property.isOptional)
        element.set("transient", property.isTransient)
        element.set("toMany", relationship.isToMany)
        if relationship.minCount > 0 { element.set("minCount", "\(relationship.minCount)") }
        if relationship.maxCount > 0 { element.set("maxCount", "\(relationship.maxCount)") }
        switch relationship.deleteRule {
        case .nullifyDeleteRule: element.set("deletionRule", "Nullify")
        case .cascadeDeleteRule: element.set("deletionRule", "Cascade")
        case .denyDeleteRule: element.set("deletionRule", "Deny")
        case .noActionDeleteRule: element.set("deletionRule", "No Action")
        }
        element.set("ordered", relationship.isOrdered)
        element.set("destinationEntity", relationship.destinationName)
        element.set("inverseName", relationship.inverseName)
        element.set("inverseEntity", relationship.inverseName == nil ? nil : relationship.destinationName)
        setMarks(of: property, on: &element)
        setVersioning(of: property, on: &element)
        element.children += userInfo(property.userInfo)
        return element
    }

    static func fetchedProperty(_ property: PropertyDocument, _ request: FetchRequestDocument?) -> XMLElementText {
        var element = named("fetchedProperty", "name", property.name)
        element.set("optional", property.isOptional)
        setMarks(of: property, on: &element)
        setVersioning(of: property, on: &element)
        if let request { element.children.append(fetchRequest(request, name: "fetchedPropertyFetchRequest")) }
        element.children += userInfo(property.userInfo)
        return element
    }

    static func fetchRequest(_ request: FetchRequestDocument, name: String) -> XMLElementText {
        var element = named("fetchRequest", "name", name)
        element.set("entity", request.entityName)
        element.set("predicateString", request.predicate?.format)
        if request.limit != 0 { element.set("fetchLimit", "\(request.limit)") }
        if request.batchSize != 0 { element.set("fetchBatchSize", "\(request.batchSize)") }
        if request.resultType != 0 { element.set("resultType", "\(request.resultType)") }
        if !request.includesSubentities { element.set("includeSubentities", "NO") }
        let implied = FetchRequestDocument.implied(byResultType: request.resultType)
        if request.includesPropertyValues != implied.propertyValues {
            element.set("includePropertyValues", request.includesPropertyValues ? "YES" : "NO")
        }
        if request.includesPendingChanges != implied.pendingChanges {
            element.set("includesPendingChanges", request.includesPendingChanges ? "YES" : "NO")
        }
        if !request.returnsObjectsAsFaults { element.set("returnObjectsAsFaults", "NO") }
        element.set("returnDistinctResults", request.returnsDistinctResults)
        return element
    }

    private static func setMarks(of property: PropertyDocument, on element: inout XMLElementText) {
        element.set("spotlightIndexingEnabled", property.isIndexedBySpotlight)
        element.set("storedInTruthFile", property.isStoredInExternalRecord)
    }

    private static func setVersioning(of property: PropertyDocument, on element: inout XMLElementText) {
        element.set("versionHashModifier", property.versionHashModifier)
        element.set("elementID", property.renamingIdentifier)
    }
}

/// Validation predicates as the fields of the editor: bounds and a pattern. Pure; `SourceReader.attributeValidation` is
/// the inverse, and decides whether the fields express everything.
struct SourceValidation {
    static let patternKey = "regularExpressionString"
    /// The XML attributes, in the editor's order; empty if the editor cannot have written the predicates.
    private(set) var attributes: [(name: String, value: String)] = []

    var pattern: String? { attributes.first { $0.name == Self.patternKey }?.value }

    init(_ validation: [ValidationDocument], type: NSAttributeType) {
        let isDate = type == .dateAttributeType
        var found: [(name: String, value: String)] = []
        for entry in validation {
            guard case .comparison(let tree) = entry.predicate, case .constant(let constant) = tree.right,
                let value = ModelValue(object: constant.any ?? NSNull())
            else { return }
            switch tree.comparison {
            case .greaterThanOrEqualTo, .lessThanOrEqualTo:
                let side = tree.comparison == .greaterThanOrEqualTo ? "min" : "max"
                guard let text = SourceValueText.text(of: value, type: SourceReader.boundType(of: type)) else { return }
                found.append((side + (isDate ? "DateTimeInterval" : "ValueString"), text))
            case .matches:
                guard case .string(let pattern) = value else { return }
                found.append((Self.patternKey, pattern))
            default: return
            }
        }
        // Reading the attributes must give the same predicates, including error codes and order.
        let written = Dictionary(found.map { ($0.name, $0.value) }) { first, _ in first }
        guard SourceReader.attributeValidation(ofXMLAttributes: written, type) == validation else { return }
        attributes = found
    }
}
