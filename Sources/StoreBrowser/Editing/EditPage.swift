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
    fileprivate static func keepFiles(of request: HTTPRequest, _ uploads: PendingUploads) throws -> HTTPFields {
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

/// Imports the objects of a file in CSV into an entity.
package struct FileImporter: Sendable {
    /// What an import would do.
    package struct Preview: Sendable {
        package let added: Int
        package let changed: Int
        /// The values of the first objects, by the names of the file's columns.
        package let sample: [[(name: String, text: String)]]

        package init(added: Int, changed: Int, sample: [[(name: String, text: String)]]) {
            (self.added, self.changed, self.sample) = (added, changed, sample)
        }
    }

    /// A file, and how its objects are imported.
    package struct Work: Sendable {
        package let entity: String
        package let file: Data
        /// Whether objects with the same unique values are changed.
        package let isUpdate: Bool
    }

    let preview: @Sendable (Work, DirectStore) throws -> Preview
    let run: @Sendable (Work, DirectStore) throws -> Void

    /// - Parameters:
    ///   - preview: says what an import would do, and throws what is wrong with the file.
    ///   - run: imports all objects, or none.
    package init(
        preview: @escaping @Sendable (Work, DirectStore) throws -> Preview,
        run: @escaping @Sendable (Work, DirectStore) throws -> Void
    ) { (self.preview, self.run) = (preview, run) }
}

/// A file in CSV that somebody has chosen: first what would become of it, and then the import.
enum UploadPage {
    /// The form to choose a file.
    static func form(_ entity: EntityLayout, _ site: Site) -> HTML {
        let unique: HTML =
            entity.uniquenessConstraints.isEmpty
            ? ""
            : "<label><input type=\"checkbox\" name=\"update\" value=\"1\"> change objects with the same \(entity.uniquenessConstraints[0].joined(separator: " and "))</label>"
        return """
            <details class="columns"><summary>Add objects from a file</summary>
            <form method="post" enctype="multipart/form-data" action="\(site.link(["upload", entity.name]))">
            <input type="file" name="f.file" accept=".csv,text/csv" aria-label="A file in CSV" required>\(unique)<button>Look at it</button></form></details>
            """
    }

    static func response(
        _ entity: EntityLayout, _ request: HTTPRequest, _ session: BrowserSession, _ importer: FileImporter,
        _ site: Site
    ) throws -> HTTPResponse {
        let form = try EditPage.keepFiles(of: request, session.uploads)
        guard let ticket = form["u.file"], let file = session.uploads.file(ticket) else {
            throw PageFailure(status: 422, message: "The file has to be chosen again.")
        }
        let work = FileImporter.Work(entity: entity.name, file: file, isUpdate: form["update"] != nil)
        do {
            guard form["confirmed"] != nil else {
                let preview = try session.writing { try importer.preview(work, $0) }
                return HTTPResponse(html(preview, work, ticket, site))
            }
            try session.writing { try importer.run(work, $0) }
        } catch let error as CommandError {
            session.uploads.drop(ticket)
            throw PageFailure(status: 422, message: "Nothing was imported. " + error.message)
        }
        session.uploads.drop(ticket)
        session.changes.broadcast()
        return HTTPResponse(seeOther: site.link(to: entity))
    }

    // MARK: Pure

    private static func html(
        _ preview: FileImporter.Preview, _ work: FileImporter.Work, _ ticket: String, _ site: Site
    ) -> HTML {
        let heads = (preview.sample.first ?? []).map { "<th scope=\"col\">\($0.name)</th>" as HTML }
        let rows = preview.sample.map { row -> HTML in
            let cells = row.map { "<td>\(String($0.text.prefix(200)))</td>" as HTML }
            return "<tr>\(cells.joined())</tr>"
        }
        let count = preview.added + preview.changed
        let shown: HTML = count > preview.sample.count ? " The first \(String(preview.sample.count)) are shown." : ""
        let changed: HTML = work.isUpdate ? ", \(TextTools.grouped(Int64(preview.changed))) changed" : ""
        let update: HTML = work.isUpdate ? "<input type=\"hidden\" name=\"update\" value=\"1\">" : ""
        let body: HTML = """
            <p class="crumbs"><a id="up" href="\(site.link(["entity", work.entity]))">\(work.entity)</a></p>
            <h1>Import into \(work.entity)?</h1>
            <p class="sub">\(TextTools.count(preview.added, "object")) would be added\(changed).\(shown) This cannot be taken back.</p>
            <div class="scroll" tabindex="0"><table class="grid"><thead><tr>\(heads.joined())</tr></thead><tbody>\(rows.joined("\n"))</tbody></table></div>
            <form method="post" action="\(site.link(["upload", work.entity]))">\(update)
            <input type="hidden" name="u.file" value="\(HTML(value: ticket))"><input type="hidden" name="confirmed" value="1">
            <p class="actions"><button autofocus\(count == 0 ? " disabled" as HTML : "")>Import</button>
            <a class="button" href="\(site.link(["entity", work.entity]))">Cancel</a></p></form>
            """
        return PageFrame.html("Import into \(work.entity)", .entities, site, body)
    }
}
