import HTTPMessages

/// The frame around every page.
enum PageFrame {
    /// Which part of the store a page belongs to.
    enum Part: String, CaseIterable {
        case entities = "Entities"
        case diagram = "Diagram"
        case history = "History"
        case file = "File"

        var path: [String] { self == .entities ? [] : [rawValue.lowercased()] }
    }

    static func html(_ title: String, _ part: Part?, _ site: Site, _ body: HTML) -> HTML {
        let links = Part.allCases.map { item -> HTML in
            let current: HTML = item == part ? " aria-current=\"page\"" : ""
            return "<a href=\"\(site.link(item.path))\"\(current)>\(item.rawValue)</a>"
        }.joined("\n")
        let undo: HTML =
            site.undoable.map { change -> HTML in
                """
                <form method="post" action="\(site.link(["undo"]))"><input type="hidden" name="change" value="\(change.number)">
                <button title="\(change.text)">Undo</button></form>
                """
            } ?? ""
        let mode: HTML = site.isWritable ? "<span class=\"badge warn\">editing</span>" : ""
        return """
            <!DOCTYPE html>
            <html lang="en" data-base="\(site.link([]))/">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) – \(site.storeName)</title>
            <link rel="stylesheet" href="\(site.link(["style.css"]))">
            <link rel="icon" type="image/svg+xml" href="\(site.link(["icon.svg"]))">
            <script src="\(site.link(["script.js"]))" defer></script>
            </head>
            <body>
            <header>
            <a class="brand" href="\(site.link([]))" title="\(site.storeName)">\(site.storeName)</a>
            <nav aria-label="Parts of the store">\(links)</nav>
            <span class="tools">\(undo)\(mode)<span id="live" class="badge" title="Changes of others show as they come" hidden>live</span></span>
            </header>
            <main id="main">
            \(body)
            </main>
            <dialog id="keys"><h2>Keys</h2><dl>
            <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row</dd>
            <dt><kbd>Enter</kbd></dt><dd>open it</dd>
            <dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next and previous page</dd>
            <dt><kbd>/</kbd></dt><dd>filter</dd>
            <dt><kbd>e</kbd> <kbd>d</kbd> <kbd>h</kbd> <kbd>f</kbd></dt><dd>entities, diagram, history, file</dd>
            <dt><kbd>u</kbd></dt><dd>back to the list</dd>
            <dt><kbd>?</kbd></dt><dd>these keys</dd>
            </dl><form method="dialog"><button>Close</button></form></dialog>
            </body>
            </html>

            """
    }
}

/// A page with a single message.
enum MessagePage {
    static func response(_ message: String, status: Int, _ site: Site) -> HTTPResponse {
        let title = status == 404 ? "Not there" : "That did not work"
        let body: HTML = "<h1>\(title)</h1><p class=\"message\" role=\"alert\">\(message)</p>"
        return HTTPResponse(PageFrame.html(title, nil, site, body), status: status)
    }
}
