import Foundation
import HTTPMessages
import Testing

@Suite("Requests, responses and markup")
struct MessageTests {
    @Test("What is put into markup is text, whatever it is")
    func escaping() {
        let name = "<script>\"'&`\u{1}\u{202E}"
        let html: HTML = "<td title=\"\(name)\">\(name)</td>"
        #expect(html.text.contains("<script>") == false)
        #expect(HTML.escaped("a<b>&\"'`") == "a&lt;b&gt;&amp;&quot;&#39;&#96;")
        #expect(HTML.escaped("\u{0}\u{1B}") == "\u{2400}\u{241B}")
        #expect(HTML.escaped("\u{202E}") == "\u{FFFD}")
        #expect(HTML.escaped("a\r\nb\rc\nd") == "a\nb\u{240D}c\nd")
    }

    @Test("What a form has comes back as it was, with the characters that a form cannot have")
    func values() {
        for text in ["\u{202B}ש\u{200F}!\u{202C} \u{2066}a\u{2069}", "a\tb\u{1}\u{1B}\u{7F}", "a\nb"] {
            #expect(HTML.sendable(text) == text)
            #expect(HTML(value: text + "<").text == text + "&lt;")
        }
        for text in ["a\r\nb", "a\0b", "a\rb", "\0\u{301}x", "\r\u{301}x\0", "\u{240D}\nb\0", "\0\r\n\u{301}\r\n\r\n"] {
            let sent = HTML.sendable(text)
            #expect(!sent.unicodeScalars.contains { $0 == "\0" || $0 == "\r" })
            #expect(HTML.restored(sent, like: text) == text)
        }
        #expect(HTML.restored("\u{2400}", like: "\u{2400}") == "\u{2400}")
    }

    @Test("Markup within markup stays markup")
    func nesting() {
        let inner: HTML = "<b>\("1 < 2")</b>"
        #expect(("<p>\(inner)</p>" as HTML).text == "<p><b>1 &lt; 2</b></p>")
        #expect([inner, inner].joined(", ").text == "<b>1 &lt; 2</b>, <b>1 &lt; 2</b>")
    }

    @Test("Paths and queries are decoded once")
    func decoding() {
        let request = HTTPRequest("GET", "/a%2Fb/c+d/%C3%A9?x=1%2B1+2&y=%26&y=2&z")
        #expect(request.path == ["a/b", "c+d", "é"])
        #expect(request.query["x"] == "1+1 2")
        #expect(request.query["y"] == "&")
        #expect(request.query["z"] == "")
        #expect(request.query["w"] == nil)
        #expect(HTTPRequest("GET", "/%zz/%4").path == ["%zz", "%4"])
    }

    @Test(
        "Addresses of any parts are read back as these parts",
        arguments: ["a/b", "..", ".", "é &=?#%", "</a>", "x.y", "\n"])
    func addresses(_ text: String) {
        let address = "/" + Address.relative(["entity", text], [("where", text), ("none", nil)])
        let request = HTTPRequest("GET", address)
        #expect(request.path == ["entity", text])
        #expect(request.query["where"] == text)
        #expect(!address.contains("none"))
        #expect(address.utf8.allSatisfy { !"<>\"' \n".utf8.contains($0) })
    }

    @Test("A header's value does not begin another header")
    func headers() { #expect(HTTPResponse.Header("Location", "/a\r\nSet-Cookie: x=1").value == "/aSet-Cookie: x=1") }

    @Test("The policy allows this server's style and script, and nothing else")
    func policy() {
        let policy = AccessGuard.headers.first { $0.name == "Content-Security-Policy" }?.value ?? ""
        #expect(policy.hasPrefix("default-src 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(policy.contains("frame-ancestors 'none'"))
    }
}
