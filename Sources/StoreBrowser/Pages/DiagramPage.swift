import Foundation
import HTTPMessages
import StoreReading

/// The model as a drawing whose boxes are links to their entities. Graphviz draws it, if it is installed.
enum DiagramPage {
    static func html(_ store: DirectStore, _ graphviz: Graphviz, _ site: Site) -> HTML {
        PageFrame.html("Diagram", .diagram, site, "<h1>Diagram</h1>\(drawing(store, graphviz, site))")
    }

    private static func drawing(_ store: DirectStore, _ graphviz: Graphviz, _ site: Site) -> HTML {
        guard graphviz.executable != nil else {
            return """
                <p class="message">The diagram is drawn by Graphviz, and there is no program “dot” in PATH. Install it: on Debian and Ubuntu,
                <code>apt install graphviz</code>. The entities are on <a href="\(site.link([]))">their page</a>.</p>
                """
        }
        do {
            let graph = GraphText.dot(of: store.document, title: store.name) { site.link(["entity", $0]) }
            let drawn = String(decoding: try graphviz.draw(graph, as: .svg), as: UTF8.self)
            guard let start = drawn.range(of: "<svg") else {
                return "<p class=\"message\">Graphviz has drawn nothing.</p>"
            }
            // Graphviz escapes its texts, and the page allows no scripts in the drawing.
            return
                "<div class=\"scroll diagram\" tabindex=\"0\">\(HTML(trusted: String(drawn[start.lowerBound...])))</div>"
        } catch {
            return "<p class=\"message\">\(Answer.text(of: error))</p>"
        }
    }
}
