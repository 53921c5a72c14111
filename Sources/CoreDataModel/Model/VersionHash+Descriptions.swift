import CompactCollections
import Foundation
import ModelFiles
import Ordering
import PredicateFormat

extension VersionHash {
    /// The hash of a property.
    package static func hash(of property: NSPropertyDescription) -> Data { hash(of: VersionedProperty(property)) }

    /// The hash of an entity.
    package static func hash(of entity: NSEntityDescription) -> Data {
        let properties = entity.propertiesByName.ordered { $0.key < $1.key }.map { VersionedProperty($0.value) }
        return hash(
            of: VersionedEntity(
                name: entity.name, parentName: entity.superentity?.name, parentHash: entity.superentity?.ownVersionHash,
                isAbstract: entity.isAbstract, versionHashModifier: entity.versionHashModifier,
                uniquenessConstraints: entity.uniquenessConstraintNames, properties: properties))
    }

    /// A digest over the version hashes of all entities, in Base64.
    package static func checksum(of model: NSManagedObjectModel) -> String {
        checksum(of: model.entityVersionHashesByName)
    }
}

extension VersionedProperty {
    fileprivate init(_ property: NSPropertyDescription) {
        let kind: Kind =
            switch property {
            case let attribute as NSAttributeDescription:
                .attribute(VersionedAttribute(attribute))
            case let relationship as NSRelationshipDescription: .relationship(RelationshipDocument(relationship))
            default: .fetched
            }
        self.init(
            name: property.name, kind: kind, isOptional: property.isOptional, isTransient: property.isTransient,
            versionHashModifier: property.versionHashModifier)
    }
}

extension VersionedProperty.VersionedAttribute {
    fileprivate init(_ attribute: NSAttributeDescription) {
        let derived = attribute as? NSDerivedAttributeDescription
        self.init(
            type: attribute.attributeType, isDerived: derived != nil,
            derivation: derived?.derivationExpression.map(Self.text(ofDerivation:)),
            allowsExternalStorage: attribute.allowsExternalBinaryDataStorage,
            preservesValueOnDeletion: attribute.preservesValueInHistoryOnDeletion,
            elements: (attribute as? NSCompositeAttributeDescription)?.elements.map(VersionedProperty.init) ?? [])
    }

    private static func text(ofDerivation expression: NSExpression) -> String {
        let tree = expressionTree(of: expression)
        guard case .expression(let canonical) = AttributeDocument.Derivation.expression(tree).canonical else {
            return expression.description
        }
        return canonical == tree ? expression.description : canonical.format
    }
}
