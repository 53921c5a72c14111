import CoreDataPostgres

/// Orders with lines, offers that are changed under merge policies, and a row for each save: who did it, and the
/// how-manieth of theirs it is.
enum Shop {
    static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            (entity.name, entity.managedObjectClassName) = (name, "NSManagedObject")
            entity.properties = attributes.map { name, type in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, false)
                attribute.defaultValue = type == .stringAttributeType ? "" : 0
                return attribute
            }
            return entity
        }
        let order = entity(
            "Order",
            [("number", .integer64AttributeType), ("stamp", .stringAttributeType), ("size", .integer64AttributeType)])
        let line = entity("Line", [("position", .integer64AttributeType), ("stamp", .stringAttributeType)])
        let note = entity("Note", [("client", .integer64AttributeType), ("sequence", .integer64AttributeType)])
        let offer = entity(
            "Offer",
            [("number", .integer64AttributeType), ("left", .stringAttributeType), ("right", .stringAttributeType)])
        offer.uniquenessConstraints = [["number"]]
        let (lines, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (lines.name, lines.maxCount, lines.destinationEntity) = ("lines", 0, line)
        (owner.name, owner.maxCount, owner.destinationEntity) = ("order", 1, order)
        (lines.deleteRule, owner.deleteRule) = (.cascadeDeleteRule, .nullifyDeleteRule)
        (lines.inverseRelationship, owner.inverseRelationship) = (owner, lines)
        order.properties.append(lines)
        line.properties.append(owner)
        order.uniquenessConstraints = [["number"]]
        let model = NSManagedObjectModel()
        model.entities = [order, line, note, offer]
        return model
    }

    /// What the tables must say at the end, each with a query that finds what is wrong.
    static let rules: [(name: String, sql: String)] = [
        (
            "every order has exactly its lines",
            """
            SELECT o.number, o.stamp, o.size, count(l._id) FROM "order" o LEFT JOIN line l ON l.order_id = o._id \
            GROUP BY o._id, o.number, o.stamp, o.size \
            HAVING count(l._id) <> o.size OR count(l._id) <> count(DISTINCT l.position) OR NOT bool_and(l.stamp = o.stamp)
            """
        ),
        ("no line is without its order", "SELECT _id FROM line WHERE order_id IS NULL"),
        ("no number is there twice", "SELECT number FROM \"order\" GROUP BY number HAVING count(*) > 1"),
        ("no offer is there twice", "SELECT number FROM offer GROUP BY number HAVING count(*) > 1"),
        ("no save is there twice", "SELECT client, sequence FROM note GROUP BY 1, 2 HAVING count(*) > 1"),
        (
            "each row is in the history exactly once as inserted",
            """
            SELECT n._id, count(c.id) FROM note n JOIN pippin.entities e ON e.name = 'Note' AND e.schema_name = 'public' \
            LEFT JOIN pippin.changes c ON c.schema_name = 'public' AND c.entity = e.number AND c.key = n._id AND c.kind = 0 \
            GROUP BY n._id HAVING count(c.id) <> 1
            """
        ),
        (
            "the history knows of no row that is not there",
            """
            SELECT c.entity, c.key FROM pippin.changes c JOIN pippin.entities e ON e.number = c.entity AND e.schema_name = 'public' \
            WHERE c.schema_name = 'public' GROUP BY c.entity, c.key, e.name HAVING bool_and(c.kind <> 2) AND NOT ( \
            e.name = 'Note' AND c.key IN (SELECT _id FROM note) OR e.name = 'Order' AND c.key IN (SELECT _id FROM "order") \
            OR e.name = 'Line' AND c.key IN (SELECT _id FROM line) OR e.name = 'Offer' AND c.key IN (SELECT _id FROM offer))
            """
        ),
        (
            "what the history knows as deleted is not there",
            """
            SELECT c.key FROM pippin.changes c JOIN pippin.entities e ON e.number = c.entity AND e.schema_name = 'public' \
            WHERE c.schema_name = 'public' AND c.kind = 2 AND (e.name = 'Order' AND c.key IN (SELECT _id FROM "order") \
            OR e.name = 'Line' AND c.key IN (SELECT _id FROM line))
            """
        ),
        (
            "transactions of the history are numbered without gaps",
            """
            SELECT s.latest, count(t.id), max(t.id) FROM pippin.stores s LEFT JOIN pippin.transactions t \
            ON t.schema_name = s.schema_name GROUP BY s.latest HAVING count(t.id) <> s.latest OR max(t.id) <> s.latest
            """
        ),
    ]
}
