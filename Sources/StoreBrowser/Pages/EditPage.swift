import CoreData
import HTTPMessages
import StoreReading

/// Values edited and objects deleted: a form, what it would change to be confirmed, and then the change.
enum EditPage {
    // MARK: Editing

    static func form(
        _ identifier: NSManagedObjectID, _ session: BrowserSession, _ site: Site, typed: HTTPFields? = nil,
        problem: String? = nil
    ) throws -> HTML {
        let row = try row(identifier, session)
        let fields = EditField.fields(of: row).map { field -> HTML in
            let value = typed?["v." + field.name] ?? field.text
            let isNull = typed.map { $0["n." + field.name] != nil } ?? field.isNull
            let null: HTML =
                field.isOptional
                ? "<label class=\"sub\"><input type=\"checkbox\" name=\"n.\(field.name)\"\(isNull ? " checked" : "" as HTML)> none</label>"
                : ""
            return """
                <tr><th scope="row"><label for="v.\(field.name)">\(field.name)</label><small>\(field.typeName)</small></th>
                <td>\(input(field, value)) \(null)</td></tr>
                """
        }
        let message: HTML = problem.map { "<p class=\"message\" role=\"alert\">\($0)</p>" } ?? ""
        let number = ObjectLabel.number(of: identifier)
        let body: HTML = """
            <p class="crumbs"><a id="up" href="\(site.link(to: identifier))">\(number)</a></p>
            <h1>Edit \(number)</h1>
            \(message)
            <form method="post" action="\(site.link(["edit", identifier.layout.name, "\(identifier.key)"]))">
            <table class="fields"><tbody>\(fields.joined("\n"))</tbody></table>
            <p class="actions"><button>Look at the changes</button> <a class="button" href="\(site.link(to: identifier))">Cancel</a></p>
            </form>
            """
        return PageFrame.html("Edit \(number)", .entities, site, body)
    }

    private static func input(_ field: EditField, _ value: String) -> HTML {
        let name: HTML = "id=\"v.\(field.name)\" name=\"v.\(field.name)\""
        switch field.kind {
        case .boolean:
            let yes: HTML = value == "true" ? " selected" : ""
            return
                "<select \(name)><option value=\"false\">no</option><option value=\"true\"\(yes)>yes</option></select>"
        case .text where value.contains("\n") || value.count > 60:
            return "<textarea \(name) rows=\"6\">\n\(value)</textarea>"
        case .number: return "<input \(name) value=\"\(value)\" inputmode=\"decimal\">"
        default: return "<input \(name) value=\"\(value)\">"
        }
    }

    /// The form was sent: shows what it would change, or changes it.
    static func submit(
        _ identifier: NSManagedObjectID, _ form: HTTPFields, _ session: BrowserSession, _ editor: StoreEditor,
        _ site: Site
    ) throws -> HTTPResponse {
        let row = try row(identifier, session)
        let changes: [EditField.Change]
        do { changes = try EditField.changes(of: row, form) } catch let error as EditField.Refusal {
            return HTTPResponse(
                try self.form(identifier, session, site, typed: form, problem: error.message), status: 422)
        }
        if changes.isEmpty { return HTTPResponse(seeOther: site.link(to: identifier)) }
        guard form["confirmed"] != nil else { return HTTPResponse(review(identifier, changes, form, site)) }
        do { try editor.set(changes.map { ($0.field.name, $0.value) }, of: identifier) } catch {
            return HTTPResponse(
                try self.form(identifier, session, site, typed: form, problem: Router.text(of: error)), status: 422)
        }
        session.news.announce()
        return HTTPResponse(
            seeOther: site.link(["object", identifier.layout.name, "\(identifier.key)"], [("saved", "1")]))
    }

    private static func review(
        _ identifier: NSManagedObjectID, _ changes: [EditField.Change], _ form: HTTPFields, _ site: Site
    ) -> HTML {
        let rows = changes.map { change -> HTML in
            """
            <tr><th scope="row">\(change.field.name)</th><td><del>\(change.field.isNull ? "none" : change.field.text)</del></td>
            <td><ins>\(change.text ?? "none")</ins></td></tr>
            """
        }
        let hidden = form.items.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" as HTML }
        let number = ObjectLabel.number(of: identifier)
        let body: HTML = """
            <h1>Save the changes of \(number)?</h1>
            <div class="scroll" tabindex="0"><table class="grid review"><thead><tr><th scope="col">Attribute</th><th scope="col">Is</th>
            <th scope="col">Becomes</th></tr></thead><tbody>\(rows.joined("\n"))</tbody></table></div>
            <form method="post" action="\(site.link(["edit", identifier.layout.name, "\(identifier.key)"]))">
            \(hidden.joined())<input type="hidden" name="confirmed" value="1">
            <p class="actions"><button autofocus>Save</button>
            <a class="button" href="\(site.link(["edit", identifier.layout.name, "\(identifier.key)"]))">Back</a></p></form>
            """
        return PageFrame.html("Save \(number)?", .entities, site, body)
    }

    // MARK: Deleting

    static func confirmation(
        ofDeleting identifier: NSManagedObjectID, _ session: BrowserSession, _ site: Site
    ) throws -> HTML {
        let row = try row(identifier, session)
        let number = ObjectLabel.number(of: identifier)
        let rules = identifier.layout.relationships.filter { !$0.isTransient }.map { relationship -> HTML in
            let what =
                switch relationship.deleteRule {
                case .cascadeDeleteRule: "is deleted with it"
                case .denyDeleteRule: "keeps it from being deleted"
                case .nullifyDeleteRule: "forgets it"
                case .noActionDeleteRule: "is left as it is"
                }
            return
                "<li><strong>\(relationship.name)</strong> (\(relationship.destination.name)): what it leads to \(what).</li>"
        }
        let body: HTML = """
            <h1>Delete \(number)?</h1>
            <p>\(ObjectLabel.name(of: row) ?? "")</p>
            <ul>\(rules.joined())</ul>
            <form method="post" action="\(site.link(["delete", identifier.layout.name, "\(identifier.key)"]))">
            <p class="actions"><button class="danger">Delete</button>
            <a class="button" href="\(site.link(to: identifier))" autofocus>Cancel</a></p></form>
            """
        return PageFrame.html("Delete \(number)?", .entities, site, body)
    }

    static func delete(
        _ identifier: NSManagedObjectID, _ session: BrowserSession, _ editor: StoreEditor, _ site: Site
    ) throws -> HTTPResponse {
        do { try editor.delete(identifier) } catch {
            return MessagePage.response(Router.text(of: error), status: 422, site)
        }
        session.news.announce()
        return HTTPResponse(seeOther: site.link(to: identifier.layout))
    }

    private static func row(_ identifier: NSManagedObjectID, _ session: BrowserSession) throws -> Row {
        guard let row = try session.store.asking({ try $0.row(for: identifier) }) else {
            throw Router.Failure.missing(
                "There is no object \(ObjectLabel.number(of: identifier)); it may have been deleted.")
        }
        return row
    }
}
