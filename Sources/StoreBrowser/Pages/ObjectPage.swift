import CoreData
import HTTPMessages
import PredicateFormat
import StoreEngine
import StoreReading

/// One object: all its values, and its relationships in both directions.
enum ObjectPage {
    /// The number of destinations of a relationship that are shown.
    private static let most = 12

    static func html(
        _ identifier: NSManagedObjectID, _ session: BrowserSession, _ request: HTTPRequest, _ site: Site
    ) throws -> HTML {
        let store = session.store
        guard let row = try store.namedRow(identifier) else {
            throw PageFailure.missing(
                "There is no object \(ObjectLabel.number(of: identifier)); it may have been deleted.")
        }
        let entity = row.objectID.layout
        // The one that names it first, those that need most space last.
        let slots = GridPage.columns(of: entity)
        let attributes = slots.filter { !GridPage.isLarge($0, entity) }.compactMap { attribute(row, $0, site) }
        let large = slots.filter { GridPage.isLarge($0, entity) }.compactMap { attribute(row, $0, site) }
        let toOnes = try entity.toOnes.filter { !$0.isTransient }.map { try toOne(row, $0, store, site) }
        let toManys = try (RelatedObjects.own(entity) + RelatedObjects.back(to: entity, in: store.layout)).map {
            try list(row.objectID, $0, store, site)
        }
        let name = ObjectLabel.name(of: row)
        let heading: HTML =
            name.map { "<bdi>\($0)</bdi> <span class=\"sub\">\(ObjectLabel.number(of: row.objectID))</span>" }
            ?? "\(ObjectLabel.number(of: row.objectID))"
        let actions: HTML =
            site.isWritable
            ? """
            <p class="actions"><a class="button" href="\(site.link(["edit", entity.name, "\(row.objectID.key)"]))">Edit</a>
            <a class="button danger" href="\(site.link(["delete", entity.name, "\(row.objectID.key)"]))">Delete…</a></p>
            """ : ""
        let saved: HTML = request.query["saved"] == nil ? "" : "<p class=\"message good\" role=\"status\">Saved.</p>"
        let body: HTML = """
            <p class="crumbs"><a id="up" href="\(site.link(to: entity))">\(entity.name)</a></p>
            <h1>\(heading)</h1>
            \(saved)\(actions)
            <section data-live id="object">
            <table class="fields"><tbody>\((attributes + toOnes + large).joined("\n"))</tbody></table>
            \(toManys.joined("\n"))
            <p class="sub">\(row.objectID.uriRepresentation().absoluteString), version \(Int(row.version))</p>
            </section>
            """
        return PageFrame.html(name ?? ObjectLabel.number(of: row.objectID), .entities, site, body)
    }

    private static func attribute(_ row: Row, _ slot: Int, _ site: Site) -> HTML? {
        let place = row.objectID.layout.slots[slot]
        guard let attribute = place.attribute, !place.isTransient else { return nil }
        let address = site.link(["value", row.objectID.layout.name, "\(row.objectID.key)", place.name])
        let value = ValueHTML.long(FieldValue(row.values[slot], attribute), address: address)
        return """
            <tr><th scope="row">\(place.name)<small>\(TypeName.of(attribute.type))</small></th><td>\(value)</td></tr>
            """
    }

    private static func toOne(
        _ row: Row, _ relationship: RelationshipLayout, _ store: DirectStore, _ site: Site
    ) throws -> HTML {
        var value: HTML = "<span class=\"null\">–</span>"
        if case .identifier(let target) = row.values[relationship.slot] {
            let found = try store.asking { try $0.row(for: target) }
            value =
                found == nil
                ? "\(ObjectLabel.number(of: target)) <span class=\"badge warn\">gone</span>" : link(target, found, site)
        }
        return """
            <tr><th scope="row">\(relationship.name)<small>→ \(relationship.destination.name)</small></th><td>\(value)</td></tr>
            """
    }

    /// A link to an object, by its name if it has one.
    static func link(_ identifier: NSManagedObjectID, _ row: Row?, _ site: Site) -> HTML {
        let name = row.flatMap(ObjectLabel.name) ?? ObjectLabel.number(of: identifier)
        return
            "<a class=\"object\" href=\"\(site.link(to: row?.objectID ?? identifier))\" title=\"\(ObjectLabel.number(of: identifier))\"><bdi>\(name)</bdi></a>"
    }

    private static func list(
        _ identifier: NSManagedObjectID, _ related: RelatedObjects, _ store: DirectStore, _ site: Site
    ) throws -> HTML {
        let all = site.link(["entity", related.entity.name], related.query(from: identifier))
        let rows: [Row]
        do { rows = try related.first(most + 1, from: identifier, store) } catch {
            return "<h2>\(related.title)</h2><p class=\"message\">\(Answer.text(of: error))</p>"
        }
        let links = rows.prefix(most).map { "<li>\(link($0.objectID, $0, site))</li>" as HTML }
        let count = site.link(["count", related.entity.name], related.query(from: identifier))
        let rest: HTML =
            rows.isEmpty
            ? "<p class=\"null\">None</p>"
            : """
            <ul class="links">\(links.joined())</ul>
            <p class="sub"><a href="\(all)">All <span data-count="\(count)">\(rows.count > most ? "" : "\(rows.count)")</span> as a table</a></p>
            """
        return "<h2>\(related.title) <span class=\"sub\">\(related.remark)</span></h2>\(rest)"
    }
}

/// The objects that an object is related to by a to-many relationship of its own, or that refer to it by a relationship
/// without inverse.
struct RelatedObjects {
    /// The entity of the related objects.
    let entity: EntityLayout
    let relationship: RelationshipLayout
    private let isBack: Bool

    /// The to-many relationships of an entity.
    static func own(_ entity: EntityLayout) -> [RelatedObjects] {
        entity.toManys.filter { !$0.isTransient }.map {
            RelatedObjects(entity: $0.destination, relationship: $0, isBack: false)
        }
    }

    /// The relationships without inverse that refer to objects of an entity.
    static func back(to entity: EntityLayout, in layout: ModelLayout) -> [RelatedObjects] {
        layout.entities.flatMap { other in
            other.relationships.filter { relationship in
                relationship.source === other && relationship.inverse == nil && !relationship.isTransient
                    && entity.isKind(of: relationship.destination)
            }.map { RelatedObjects(entity: other, relationship: $0, isBack: true) }
        }
    }

    var title: String { isBack ? "\(entity.name).\(relationship.name)" : relationship.name }

    var remark: String {
        if isBack { return "leads here" }
        return (relationship.isOrdered ? "→ many \(entity.name), ordered" : "→ many \(entity.name)")
    }

    /// The inverse by which the destinations are found by a filter.
    private var inverse: RelationshipLayout? { isBack ? relationship : relationship.inverse }

    /// The part of a grid's address that selects the objects.
    func query(from identifier: NSManagedObjectID) -> [(String, String?)] {
        // Encoded once more, since names may contain slashes.
        func place(_ relationship: RelationshipLayout) -> String {
            Address.relative([identifier.layout.name, "\(identifier.key)", relationship.name])
        }
        return inverse.map { [("by", place($0))] } ?? [("of", place(relationship))]
    }

    /// The first related objects, in order if the relationship is ordered.
    func first(_ count: Int, from identifier: NSManagedObjectID, _ store: DirectStore) throws -> [Row] {
        try store.asking { engine in
            if let inverse, !relationship.isOrdered {
                var plan = FetchPlan(entity: entity)
                plan.predicate = makePredicate(
                    .comparison(
                        ComparisonTree(
                            .keyPath([inverse.name]), .equalTo, .constant(Value(identifier)),
                            modifier: inverse.isToMany ? .any : .direct)))
                if store.pagesByKey { plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)] }
                plan.limit = count
                return Array(try engine.fetchRows(plan))
            }
            let found = try engine.destinations(of: relationship, for: [identifier]).first ?? []
            let wanted = Array(found.prefix(count))
            let rows = try ObjectLabel.names(of: wanted, engine)
            return wanted.compactMap { rows[$0] }
        }
    }
}
