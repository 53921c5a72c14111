import CoreDataPostgres
import Foundation

/// Sales, whose table is divided as a text says, with lines and tags.
enum Sales {
    static func model(_ partitions: String?, unique: [String] = ["region", "number"]) -> NSManagedObjectModel {
        let (sale, line, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (sale.name, line.name, tag.name) = ("Sale", "Line", "Tag")
        func attribute(_ name: String, _ type: NSAttributeType, _ value: Any) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, false)
            attribute.defaultValue = value
            return attribute
        }
        let note = attribute("note", .stringAttributeType, "")
        note.isOptional = true
        sale.properties = [
            attribute("region", .stringAttributeType, "north"), attribute("number", .integer64AttributeType, 0),
            attribute("placed", .dateAttributeType, Date(timeIntervalSince1970: 0)), note,
        ]
        line.properties = [attribute("position", .integer64AttributeType, 0)]
        tag.properties = [attribute("name", .stringAttributeType, "")]
        func relate(
            _ source: NSEntityDescription, _ name: String, _ destination: NSEntityDescription, _ inverse: String,
            isMany: Bool
        ) {
            let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
            (there.name, there.maxCount, there.destinationEntity) = (name, 0, destination)
            (back.name, back.maxCount, back.destinationEntity) = (inverse, isMany ? 0 : 1, source)
            (there.deleteRule, back.deleteRule) = (isMany ? .nullifyDeleteRule : .cascadeDeleteRule, .nullifyDeleteRule)
            (there.inverseRelationship, back.inverseRelationship) = (back, there)
            source.properties.append(there)
            destination.properties.append(back)
        }
        relate(sale, "lines", line, "sale", isMany: false)
        relate(sale, "tags", tag, "sales", isMany: true)
        if !unique.isEmpty { sale.uniquenessConstraints = [unique] }
        sale.userInfo = partitions.map { ["PippinPartitions": $0] }
        // Nothing else of the model differs.
        sale.versionHashModifier = partitions
        let model = NSManagedObjectModel()
        model.entities = [sale, line, tag]
        return model
    }
}
