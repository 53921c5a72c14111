import Foundation
import ModelFiles
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("Text in XML")
struct XMLTextTests {
    @Test("Content has references for what begins a tag, and for carriage returns")
    func content() throws {
        #expect(try XMLText.content("<a> & \"b\"\t\n\r'é🍏\u{7F}") == "&lt;a&gt; &amp; \"b\"\t\n&#13;'é🍏\u{7F}")
    }

    @Test("Values of attributes have references for quotation marks, tabs and line feeds, too")
    func attributeValue() throws {
        #expect(try XMLText.attributeValue("<a> & \"b\"\t\n\r'") == "&lt;a&gt; &amp; &quot;b&quot;&#9;&#10;&#13;'")
    }

    @Test("A parser reads back whatever is written")
    func readBack() throws {
        let text = "]]> <!-- &amp; -->\r\n\t\"'\u{7F}\u{85}\u{2028}\u{E000}\u{FFFD}\u{10FFFF}e\u{301}"
        let document = "<a b=\"\(try XMLText.attributeValue(text))\">\(try XMLText.content(text))</a>"
        let reader = ElementReader()
        let parser = XMLParser(data: Data(document.utf8))
        parser.delegate = reader
        #expect(parser.parse())
        #expect(reader.value.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars))
        #expect(Array(reader.content.unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(
        "Characters that XML has no place for are refused, wherever they stand",
        arguments: ["\u{0}", "\u{1}", "\u{8}", "\u{B}", "\u{C}", "\u{E}", "\u{1B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"]
            as [Unicode.Scalar])
    func refused(character: Unicode.Scalar) {
        let text = "before \(character) after"
        #expect(throws: XMLText.Refusal(character: character)) { try XMLText.content(text) }
        #expect(throws: XMLText.Refusal(character: character)) { try XMLText.attributeValue(text) }
    }

    @Test("A refusal names the character as Unicode does")
    func description() {
        #expect(XMLText.Refusal(character: "\u{7}").description == "XML cannot hold the character U+0007")
        #expect(XMLText.Refusal(character: "\u{FFFE}").description == "XML cannot hold the character U+FFFE")
    }
}

private final class ElementReader: NSObject, XMLParserDelegate {
    var value: String?
    var content = ""

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes attributeDict: [String: String] = [:]
    ) {
        value = attributeDict["b"]
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { content += string }
}
