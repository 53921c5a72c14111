import CoreData

final class Folder: NSManagedObject {
    @NSManaged var name: String?
    @NSManaged var position: Int64
    @NSManaged var noteCount: Int64
    @NSManaged var parent: Folder?
    @NSManaged var children: Set<Folder>?
    @NSManaged var notes: Set<Note>?
}

final class Note: NSManagedObject {
    @NSManaged var uid: String?
    @NSManaged var title: String?
    @NSManaged var body: String?
    @NSManaged var rating: Int64
    @NSManaged var price: NSDecimalNumber?
    @NSManaged var createdAt: Date?
    @NSManaged var photo: Data?
    @NSManaged var marks: NSObject?
    @NSManaged var folder: Folder?
    @NSManaged var tags: Set<Tag>?
    @NSManaged var lines: NSOrderedSet?
}

final class Tag: NSManagedObject {
    @NSManaged var name: String?
    @NSManaged var notes: Set<Note>?
}

final class Line: NSManagedObject {
    @NSManaged var text: String?
    @NSManaged var note: Note?
}

/// Folders in folders, notes with tags and ordered lines: every kind of attribute and relationship.
enum NotesModel {
    // One model for all: a class belongs to one entity.
    static let model = make()

    static func make(version: Int = 1) -> NSManagedObjectModel {
        let (folder, note, tag, line) = (entity(Folder.self), entity(Note.self), entity(Tag.self), entity(Line.self))
        let count = NSDerivedAttributeDescription()
        count.name = "noteCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpression = NSExpression(format: "notes.@count")
        let photo = attribute("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        let marks = attribute("marks", .transformableAttributeType)
        marks.valueTransformerName = "NSSecureUnarchiveFromData"
        folder.properties = [
            attribute("name", .stringAttributeType), attribute("position", .integer64AttributeType), count,
        ]
        note.properties = [
            attribute("uid", .stringAttributeType), attribute("title", .stringAttributeType),
            attribute("body", .stringAttributeType), attribute("rating", .integer64AttributeType),
            attribute("price", .decimalAttributeType), attribute("createdAt", .dateAttributeType), photo, marks,
        ]
        note.uniquenessConstraints = [["uid"]]
        tag.properties = [attribute("name", .stringAttributeType)]
        line.properties = [attribute("text", .stringAttributeType)]
        if version > 1 { note.properties.append(attribute("added", .stringAttributeType)) }
        relate(folder, "children", folder, "parent", rule: .cascadeDeleteRule)
        relate(folder, "notes", note, "folder", rule: .cascadeDeleteRule)
        relate(note, "lines", line, "note", rule: .cascadeDeleteRule).isOrdered = true
        relate(note, "tags", tag, "notes", rule: .nullifyDeleteRule, inverseIsToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [folder, note, tag, line]
        return model
    }

    private static func entity(_ type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = "\(type)"
        entity.managedObjectClassName = NSStringFromClass(type)
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    @discardableResult
    private static func relate(
        _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ inverseName: String,
        rule: NSDeleteRule, inverseIsToMany: Bool = false
    ) -> NSRelationshipDescription {
        let (relationship, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
        (relationship.name, inverse.name) = (name, inverseName)
        (relationship.destinationEntity, inverse.destinationEntity) = (other, one)
        (relationship.inverseRelationship, inverse.inverseRelationship) = (inverse, relationship)
        (relationship.deleteRule, inverse.deleteRule) = (rule, .nullifyDeleteRule)
        (relationship.maxCount, inverse.maxCount) = (0, inverseIsToMany ? 0 : 1)
        one.properties.append(relationship)
        other.properties.append(inverse)
        return relationship
    }
}
