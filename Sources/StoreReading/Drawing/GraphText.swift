import CoreData

/// A model as a graph in the language DOT: a box for each entity, a line for each relationship and its inverse, an
/// arrow to each parent. Pure.
package enum GraphText {
    /// - Parameters:
    ///   - document: the model.
    ///   - title: what to call the graph.
    ///   - address: the link of an entity's box; nil for none.
    /// - Returns: the graph.
    package static func dot(
        of document: ModelDocument, title: String, linkedTo address: ((String) -> String)? = nil
    ) -> String {
        let entities = document.entities.sorted { $0.name < $1.name }
        var lines = [
            "digraph \(quoted(title)) {",
            "    graph [rankdir=LR, fontname=\"Helvetica\"]",
            "    node [shape=record, fontname=\"Helvetica\", fontsize=11]",
            "    edge [fontname=\"Helvetica\", fontsize=9, labeldistance=1.8]",
        ]
        lines += entities.map { entity in
            let link = address.map { ", URL=\(quoted($0(entity.name))), target=\"_top\"" } ?? ""
            return "    \(quoted(entity.name)) [label=\"\(label(of: entity))\"\(link)]"
        }
        for entity in entities {
            guard let parent = entity.parentName else { continue }
            lines.append("    \(quoted(entity.name)) -> \(quoted(parent)) [arrowhead=empty]")
        }
        for entity in entities { lines += edges(of: entity, document) }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    /// `{Book|title: String\lpages: Integer 32?\l}`; a question mark for what is optional.
    private static func label(of entity: EntityDocument) -> String {
        let name = field(entity.name) + (entity.isAbstract ? " (abstract)" : "")
        let attributes = entity.properties.sorted { $0.name < $1.name }.compactMap { property -> String? in
            guard let attribute = property.attribute else { return nil }
            return field("\(property.name): \(TypeName.of(attribute.type))\(property.isOptional ? "?" : "")")
                + "\\l"
        }
        return attributes.isEmpty ? "{\(name)}" : "{\(name)|\(attributes.joined())}"
    }

    /// The relationships of an entity; one of each inverse pair stands for both.
    private static func edges(of entity: EntityDocument, _ document: ModelDocument) -> [String] {
        entity.properties.sorted { $0.name < $1.name }.compactMap { property in
            guard let relationship = property.relationship, let destination = relationship.destinationName else {
                return nil
            }
            var facts = [("headlabel", relationship.isToMany ? "*" : "1")]
            if let name = relationship.inverseName, let (owner, inverse) = find(name, in: destination, document),
                inverse.inverseName == nil || inverse.inverseName == property.name
            {
                let (here, there) = ((entity.name, property.name), (owner.name, name))
                guard here <= there else { return nil }
                if here != there {
                    facts.append(("taillabel", inverse.isToMany ? "*" : "1"))
                    facts.append(("label", "\(property.name) / \(name)"))
                    facts.append(("dir", "both"))
                }
            }
            if facts.count == 1 { facts.append(("label", property.name)) }
            facts.append(("arrowhead", "vee"))
            if facts.contains(where: { $0.0 == "dir" }) { facts.append(("arrowtail", "vee")) }
            let list = facts.map { "\($0.0)=\(quoted($0.1))" }.joined(separator: ", ")
            return "    \(quoted(entity.name)) -> \(quoted(destination)) [\(list)]"
        }
    }

    /// A relationship by its name, of an entity or one of its superentities.
    private static func find(
        _ name: String, in entity: String, _ document: ModelDocument
    ) -> (EntityDocument, RelationshipDocument)? {
        var current = document.entity(named: entity)
        while let entity = current {
            if let relationship = entity.property(named: name)?.relationship { return (entity, relationship) }
            current = entity.parentName.flatMap { document.entity(named: $0) }
        }
        return nil
    }

    private static func quoted(_ text: String) -> String {
        let line = TextTools.visible(text)
        return "\"" + TextTools.replacing(0x22, with: "\\\"", in: TextTools.replacing(0x5C, with: "\\\\", in: line))
            + "\""
    }

    /// Text within a record's label, where further characters are special.
    private static func field(_ text: String) -> String {
        TextTools.visible(text).unicodeScalars.map { "\\\"{}|<>".unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }
            .joined()
    }
}
