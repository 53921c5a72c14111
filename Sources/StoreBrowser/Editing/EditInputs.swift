import CoreData
import HTTPMessages
import StoreReading

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
