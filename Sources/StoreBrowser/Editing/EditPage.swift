import CoreData
import HTTPMessages
import StoreReading

/// Editing of values and deletion of objects: a form, a confirmation of its changes, and then the change.
enum EditPage {
    // MARK: Editing

    static func form(
        _ identifier: NSManagedObjectID, _ session: BrowserSession, _ site: Site, typed: HTTPFields? = nil,
        problem: String? = nil
    ) throws -> HTML {
        let row = try row(identifier, session)
        let typed = typed.map { form in
            HTTPFields(form.items.filter { !$0.name.hasPrefix("u.") || session.uploads.file($0.value) != nil })
        }
        let lines =
            EditField.fields(of: row).map { EditInputs.row($0, typed) }
            + (try RelationshipField.fields(of: row, session.store).map { EditInputs.row($0, typed, site) })
        let message: HTML = problem.map { "<p class=\"message\" role=\"alert\">\($0)</p>" } ?? ""
        let number = ObjectLabel.number(of: identifier)
        let body: HTML = """
            <p class="crumbs"><a id="up" href="\(site.link(to: identifier))">\(number)</a></p>
            <h1>Edit \(number)</h1>
            \(message)
            <form method="post" enctype="multipart/form-data" action="\(site.link(["edit", identifier.layout.name, "\(identifier.key)"]))">
            <input type="hidden" name="\(versionField)" value="\(typed?[versionField] ?? "\(row.version)")">
            <table class="fields"><tbody>\(lines.joined("\n"))</tbody></table>
            <p class="actions"><button>Look at the changes</button> <a class="button" href="\(site.link(to: identifier))">Cancel</a></p>
            </form>
            """
        return PageFrame.html("Edit \(number)", .entities, site, body)
    }

    /// Handles the submitted form: shows its changes, or makes them.
    static func submit(
        _ identifier: NSManagedObjectID, _ request: HTTPRequest, _ session: BrowserSession, _ editor: StoreEditor,
        _ site: Site
    ) throws -> HTTPResponse {
        let row = try row(identifier, session)
        let form = try keepFiles(of: request, session.uploads)
        let changes: [EditChange]
        do {
            changes =
                try EditField.changes(of: row, form) { try file($0, form, session.uploads) }
                + RelationshipField.changes(of: row, form, session.store)
        } catch let error as EditChange.Refusal {
            return HTTPResponse(
                try self.form(identifier, session, site, typed: form, problem: error.message), status: 422)
        }
        if changes.isEmpty { return HTTPResponse(seeOther: site.link(to: identifier)) }
        // If the object has changed since the form or the confirmation was shown, it must be confirmed again.
        let isStale = form[versionField].map { $0 != "\(row.version)" } ?? false
        guard form["confirmed"] != nil, !isStale else {
            return HTTPResponse(review(row, changes, form, site, isStale: isStale))
        }
        do { try editor.change(identifier, changes) } catch {
            return HTTPResponse(
                try self.form(identifier, session, site, typed: form, problem: Answer.text(of: error)), status: 422)
        }
        for item in form.items where item.name.hasPrefix("u.") { session.uploads.drop(item.value) }
        session.changes.broadcast()
        return HTTPResponse(
            seeOther: site.link(["object", identifier.layout.name, "\(identifier.key)"], [("saved", "1")]))
    }

    /// The form, with tickets in place of its uploaded files, which wait for the confirmation.
    private static func keepFiles(of request: HTTPRequest, _ uploads: PendingUploads) throws -> HTTPFields {
        let form = request.readForm()
        var items = form.fields.items.map {
            HTTPFields.Item(name: $0.name, value: $0.value.replacing("\r\n", with: "\n"))
        }
        for (name, data) in form.files.sorted(by: { $0.key < $1.key }) where name.hasPrefix("f.") {
            guard data.count <= PendingUploads.largest else {
                throw PageFailure(status: 413, message: "The file is larger than \(PendingUploads.largest >> 20) MB.")
            }
            let ticket = "u." + name.dropFirst(2)
            items.removeAll { $0.name == ticket }
            items.append(HTTPFields.Item(name: ticket, value: uploads.keep(data)))
        }
        return HTTPFields(items)
    }

    private static func file(_ name: String, _ form: HTTPFields, _ uploads: PendingUploads) throws -> Data? {
        guard let ticket = form["u." + name] else { return nil }
        guard let data = uploads.file(ticket) else {
            throw EditChange.Refusal(message: "The file for “\(name)” has to be chosen again.")
        }
        return data
    }

    /// The field with the version of the object that the form or the confirmation is about.
    private static let versionField = "version"

    private static func review(
        _ row: Row, _ changes: [EditChange], _ form: HTTPFields, _ site: Site, isStale: Bool
    ) -> HTML {
        let identifier = row.objectID
        let rows = changes.map { change -> HTML in
            """
            <tr><th scope="row">\(change.name)</th><td><del>\(change.before)</del></td>
            <td><ins>\(change.after)</ins></td></tr>
            """
        }
        let items =
            form.items.filter { $0.name != versionField && $0.name != "confirmed" }
            + [HTTPFields.Item(name: versionField, value: "\(row.version)")]
        let hidden = items.map {
            "<input type=\"hidden\" name=\"\($0.name)\" value=\"\(HTML(value: $0.value))\">" as HTML
        }
        let message: HTML =
            isStale
            ? "<p class=\"message\" role=\"alert\">Somebody else has changed it since this was asked. This is what would change now.</p>"
            : ""
        let number = ObjectLabel.number(of: identifier)
        let body: HTML = """
            <h1>Save the changes of \(number)?</h1>
            \(message)
            <div class="scroll" tabindex="0"><table class="grid review"><thead><tr><th scope="col">Property</th><th scope="col">Is</th>
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
        let identifier = try row(identifier, session).objectID
        do { try editor.delete(identifier) } catch {
            return MessagePage.response(Answer.text(of: error), status: 422, site)
        }
        session.changes.broadcast()
        return HTTPResponse(seeOther: site.link(to: identifier.layout))
    }

    private static func row(_ identifier: NSManagedObjectID, _ session: BrowserSession) throws -> Row {
        guard let row = try session.store.namedRow(identifier) else {
            throw PageFailure.missing(
                "There is no object \(ObjectLabel.number(of: identifier)); it may have been deleted.")
        }
        return row
    }
}
