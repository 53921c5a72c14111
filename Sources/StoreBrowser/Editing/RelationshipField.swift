import CoreData
import HTTPMessages
import StoreEngine
import StoreReading

/// A relationship that can be edited: the objects that it leads to, those to add, and those to remove.
///
/// A form uses `r.author` for the object of a to-one relationship, `a.books` for objects added to a to-many one, and
/// `x.books` for objects removed from it.
struct RelationshipField {
    /// How many destinations have a checkbox of their own.
    static let most = 50

    /// Begins the names of the fields with the object that the form showed at first.
    static let originalPrefix = "o.r."

    let relationship: RelationshipLayout
    /// The first destinations, in order if the relationship is ordered.
    let rows: [Row]
    /// A destination that no longer exists.
    let missing: NSManagedObjectID?
    let hasMore: Bool

    var name: String { relationship.name }

    /// The relationships of an object.
    ///
    /// - Throws: an error for a store that cannot be read.
    static func fields(of row: Row, _ store: DirectStore) throws -> [RelationshipField] {
        let entity = row.objectID.layout
        let toOnes = try entity.toOnes.filter { !$0.isTransient }.map { relationship -> RelationshipField in
            guard case .identifier(let target) = row.values[relationship.slot] else {
                return RelationshipField(relationship: relationship, rows: [], missing: nil, hasMore: false)
            }
            let found = try store.asking { try $0.row(for: target) }
            return RelationshipField(
                relationship: relationship, rows: found.map { [$0] } ?? [], missing: found == nil ? target : nil,
                hasMore: false)
        }
        let toManys = try RelatedObjects.own(entity).map { related in
            let found = try related.first(most + 1, from: row.objectID, store)
            return RelationshipField(
                relationship: related.relationship, rows: Array(found.prefix(most)), missing: nil,
                hasMore: found.count > most)
        }
        return toOnes + toManys
    }

    /// The changes in a submitted form.
    ///
    /// - Throws: `EditChange.Refusal` that names the relationship.
    static func changes(of row: Row, _ form: HTTPFields, _ store: DirectStore) throws -> [EditChange] {
        try fields(of: row, store).compactMap { field in
            try field.relationship.isToMany
                ? field.manyChange(of: row, form, store) : field.oneChange(form, store)
        }
    }

    private func oneChange(_ form: HTTPFields, _ store: DirectStore) throws -> EditChange? {
        guard let typed = form["r." + name], typed != form[Self.originalPrefix + name] else { return nil }
        let words = ObjectReference.words(typed)
        guard words.count < 2 else {
            throw EditChange.Refusal(message: "“\(name)” leads to one object; “\(typed)” names several.")
        }
        let new = try words.first.map { try ObjectReference.row($0, for: relationship, store) }
        let old = rows.first?.objectID ?? missing
        guard new?.objectID != old else { return nil }
        // A reference to a missing object that was left unchanged.
        if let missing, words.first == ObjectLabel.number(of: missing) { return nil }
        return EditChange(
            name: name, before: rows.first.map(Self.text) ?? missing.map(ObjectLabel.number) ?? "none",
            after: new.map(Self.text) ?? "none", action: .destination(new?.objectID))
    }

    private func manyChange(of row: Row, _ form: HTTPFields, _ store: DirectStore) throws -> EditChange? {
        func objects(_ prefix: String) throws -> [Row] {
            let words = form.values(prefix + name).flatMap(ObjectReference.words)
            var seen: Set<NSManagedObjectID> = []
            return try words.map { try ObjectReference.row($0, for: relationship, store) }
                .filter { seen.insert($0.objectID).inserted }
        }
        let (adding, removing) = (try objects("a."), try objects("x."))
        if adding.isEmpty, removing.isEmpty { return nil }
        let known = Set(
            try store.asking { try $0.destinations(of: relationship, for: [row.objectID]) }.first ?? [])
        if let stranger = removing.first(where: { !known.contains($0.objectID) }) {
            throw EditChange.Refusal(
                message:
                    "“\(name)” does not lead to \(ObjectLabel.number(of: stranger.objectID)), which is to be removed.")
        }
        let gone = Set(removing.map(\.objectID))
        let new = adding.filter { !known.contains($0.objectID) && !gone.contains($0.objectID) }
        let old = removing.filter { removed in !adding.contains { $0.objectID == removed.objectID } }
        if new.isEmpty, old.isEmpty { return nil }
        return EditChange(
            name: name, before: old.isEmpty ? "nothing is removed" : old.map(Self.text).joined(separator: ", "),
            after: new.isEmpty ? "nothing is added" : new.map(Self.text).joined(separator: ", "),
            action: .destinations(added: new.map(\.objectID), removed: old.map(\.objectID)))
    }

    /// An object in words: its number, and its name if it has one.
    static func text(_ row: Row) -> String {
        let number = ObjectLabel.number(of: row.objectID)
        return ObjectLabel.name(of: row).map { "\($0) (\(number))" } ?? number
    }
}

/// An object as people name it: by its URI, as `Author/p3`, or by its number alone. Pure.
struct ObjectReference: Equatable {
    /// The store that a URI names; nil if none was given.
    var store: String?
    /// Nil for the entity that is expected.
    var entity: String?
    let key: Int64

    init?(_ text: String) {
        var rest = text[...]
        if rest.hasPrefix("x-coredata://") {
            rest = rest.dropFirst("x-coredata://".count)
            guard let slash = rest.firstIndex(of: "/") else { return nil }
            store = String(rest[..<slash])
            rest = rest[slash...].dropFirst()
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count == 2 || (parts.count == 1 && store == nil) else { return nil }
        let digits = last.hasPrefix("p") ? last.dropFirst() : last
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(digits) else { return nil }
        if parts.count == 2 { entity = parts[0].removingPercentEncoding ?? String(parts[0]) }
        key = number
    }

    /// The objects that a text names, separated by commas or white space.
    static func words(_ text: String) -> [String] {
        text.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }
}

extension ObjectReference {
    /// The object that a relationship is to lead to.
    ///
    /// - Throws: `EditChange.Refusal` for a text that names no object of the store, or one of another entity.
    static func row(_ text: String, for relationship: RelationshipLayout, _ store: DirectStore) throws -> Row {
        func refusal(_ reason: String) -> EditChange.Refusal {
            EditChange.Refusal(message: "“\(relationship.name)” needs an object of the store: “\(text)” \(reason).")
        }
        guard let reference = ObjectReference(text) else {
            throw refusal("is neither a URI nor such as \(relationship.destination.name)/p1")
        }
        if let other = reference.store, other.uppercased() != store.store.identifier?.uppercased() {
            throw refusal("is of another store")
        }
        guard let entity = reference.entity.map({ store.layout.entityByName[$0] }) ?? relationship.destination else {
            throw refusal("is of an entity that there is not")
        }
        guard entity.isKind(of: relationship.destination) || relationship.destination.isKind(of: entity) else {
            throw refusal("is not of entity \(relationship.destination.name)")
        }
        guard let row = try store.namedRow(store.identifier(entity, reference.key)),
            row.objectID.layout.isKind(of: relationship.destination)
        else { throw refusal("is not there") }
        return row
    }
}

/// The input fields for properties: a line of a form for each. Pure.
enum EditInputs {
    // MARK: Attributes

    /// - Parameters:
    ///   - field: the attribute.
    ///   - typed: the text that was typed already; nil for a new form.
    /// - Returns: the line.
    static func row(_ field: EditField, _ typed: HTTPFields?) -> HTML {
        let value = typed?["v." + field.name] ?? field.text
        let isNull = typed.map { $0["n." + field.name] != nil } ?? field.isNull
        let null: HTML =
            field.isOptional
            ? "<label class=\"sub\"><input type=\"checkbox\" name=\"n.\(field.name)\"\(isNull ? " checked" : "" as HTML)> none</label>"
            : ""
        return """
            <tr><th scope="row"><label for="v.\(field.name)">\(field.name)</label><small>\(field.typeName)</small></th>
            <td>\(input(field, value, ticket: typed?["u." + field.name])) \(null)\(original(EditField.originalPrefix + field.name, field.original, typed))</td></tr>
            """
    }

    /// The hidden field with what the form showed at first.
    private static func original(_ name: String, _ value: String, _ typed: HTTPFields?) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTML(value: typed?[name] ?? value))\">"
    }

    private static func input(_ field: EditField, _ value: String, ticket: String?) -> HTML {
        let name: HTML = "id=\"v.\(field.name)\" name=\"v.\(field.name)\""
        switch field.kind {
        case .boolean:
            let yes: HTML = value == "true" ? " selected" : ""
            return
                "<select \(name)><option value=\"false\">no</option><option value=\"true\"\(yes)>yes</option></select>"
        case .bytes, .json:
            let rest: HTML =
                field.kind == .json
                ? ""
                : field.text.isEmpty && field.byteCount ?? 0 > 0
                    ? "<p class=\"sub\">\(field.shown)\(field.shown.hasSuffix("…") ? "" : "." as HTML) Empty leaves them as they are.</p>"
                    : "<p class=\"sub\">Pairs of hexadecimal digits.</p>"
            // A file that was sent with a form that was refused need not be chosen again.
            let kept: HTML =
                ticket.map {
                    "<label class=\"sub\"><input type=\"checkbox\" name=\"u.\(field.name)\" value=\"\($0)\" checked> the file that was chosen</label>"
                } ?? ""
            return """
                <textarea class="code" \(name) rows="4" spellcheck="false">
                \(HTML(value: value))</textarea>\(rest)
                \(kept)<label class="sub file">or a file: <input type="file" name="f.\(field.name)"></label>
                """
        case .text where value.contains("\n") || value.count > 60:
            return "<textarea \(name) rows=\"6\">\n\(HTML(value: value))</textarea>"
        case .number: return "<input \(name) value=\"\(HTML(value: value))\" inputmode=\"decimal\">"
        default: return "<input \(name) value=\"\(HTML(value: value))\">"
        }
    }

    // MARK: Relationships

    static func row(_ field: RelationshipField, _ typed: HTTPFields?, _ site: Site) -> HTML {
        let id = (field.relationship.isToMany ? "a." : "r.") + field.name
        let content = field.relationship.isToMany ? many(field, typed, site) : one(field, typed, site)
        let kind = (field.relationship.isToMany ? "→ many " : "→ ") + field.relationship.destination.name
        return """
            <tr><th scope="row"><label for="\(id)">\(field.name)</label><small>\(kind)</small></th><td>\(content)</td></tr>
            """
    }

    private static func one(_ field: RelationshipField, _ typed: HTTPFields?, _ site: Site) -> HTML {
        let current =
            field.rows.first.map { ObjectLabel.number(of: $0.objectID) } ?? field.missing.map(ObjectLabel.number)
        let remark: HTML =
            field.rows.first.map { "Now \(ObjectPage.link($0.objectID, $0, site)). Empty is none." }
            ?? (field.missing == nil ? "Now none." : "The object is gone. Empty is none.")
        return """
            \(finder("r." + field.name, typed?["r." + field.name] ?? current ?? "", isList: false, field, site))
            \(original(RelationshipField.originalPrefix + field.name, current ?? "", typed))<p class="sub">\(remark)</p>
            """
    }

    private static func many(_ field: RelationshipField, _ typed: HTTPFields?, _ site: Site) -> HTML {
        let removed = Set(typed?.values("x." + field.name).flatMap(ObjectReference.words) ?? [])
        let boxes = field.rows.map { row -> HTML in
            let number = ObjectLabel.number(of: row.objectID)
            let mark: HTML = removed.contains(number) ? " checked" : ""
            return """
                <li><label title="\(number)"><input type="checkbox" name="x.\(field.name)" value="\(number)"\(mark)> <span>\(ObjectLabel.name(of: row) ?? number)</span></label></li>
                """
        }
        let known = Set(field.rows.map { ObjectLabel.number(of: $0.objectID) })
        let others = removed.subtracting(known).sorted().joined(separator: ", ")
        let rest: HTML =
            field.hasMore
            ? """
            <p class="sub">These are the first \(RelationshipField.most). Others to remove, by their numbers:</p>
            <input name="x.\(field.name)" value="\(others)" aria-label="Others to remove from \(field.name)">
            """ : ""
        let list: HTML =
            boxes.isEmpty ? "" : "<p class=\"sub\">Remove:</p><ul class=\"remove\">\(boxes.joined())</ul>\(rest)"
        return """
            \(list)<p class="sub">Add\(field.relationship.isOrdered ? " at the end" : ""), by names or numbers:</p>
            \(finder("a." + field.name, typed?["a." + field.name] ?? "", isList: true, field, site))
            """
    }

    /// A field in which the script finds objects.
    private static func finder(
        _ name: String, _ value: String, isList: Bool, _ field: RelationshipField, _ site: Site
    ) -> HTML {
        let list: HTML = isList ? " data-list" : ""
        let example = "\(field.relationship.destination.name)/p1"
        return """
            <div class="field"><input id="\(name)" name="\(name)" value="\(HTML(value: value))" placeholder="\(example), or a part of a name" autocomplete="off"
            spellcheck="false" data-find="\(site.link(["find", field.relationship.destination.name]))"\(list)></div>
            """
    }
}
