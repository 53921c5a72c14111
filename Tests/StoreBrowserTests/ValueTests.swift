import CoreData
import Foundation
import ModelFiles
import StoreReading
import Testing

@testable import StoreBrowser

@Suite("Values as they are shown")
struct ValueTests {
    @Test("Bytes are shown as places, digits and text")
    func hex() {
        let text = HexText.text(of: Data("Hello, world, again\n".utf8))
        #expect(
            text
                == "000000  48 65 6c 6c 6f 2c 20 77 6f 72 6c 64 2c 20 61 67  Hello, world, ag\n000010  61 69 6e 0a                                      ain·"
        )
    }

    @Test("Images are known by their first bytes; SVG does not count, since it may have script in it")
    func images() {
        #expect(MediaType(of: Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])) == .png)
        #expect(MediaType(of: Data([0xFF, 0xD8, 0xFF, 0xE0])) == .jpeg)
        #expect(MediaType(of: Data("GIF89a".utf8)) == .gif)
        #expect(MediaType(of: Data("RIFFxxxxWEBP".utf8)) == .webp)
        #expect(MediaType(of: Data("<svg xmlns='http://www.w3.org/2000/svg'>".utf8)) == nil)
        #expect(MediaType(of: Data()) == nil)
    }

    @Test("JSON has its members on lines of their own, in their order")
    func json() {
        #expect(
            PrettyJSON.text(#"{"b":[1,2],"a":{},"c":"x,{y}\"" }"#)
                == "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": {},\n  \"c\": \"x,{y}\\\"\"\n}")
    }

    @Test("A typed number that its type cannot hold is refused; infinity is meant where it is written")
    func tooLarge() throws {
        let refusal = ValueText.Refusal(expected: "a number that its type can hold")
        #expect(throws: refusal) { try ValueText.value("1e309", .doubleAttributeType) }
        #expect(throws: refusal) { try ValueText.value("-1e39", .floatAttributeType) }
        #expect(throws: ValueText.Refusal(expected: "a number")) { try ValueText.value("nan", .doubleAttributeType) }
        #expect(try ValueText.value("1e308", .doubleAttributeType) as? Double == 1e308)
        #expect(try ValueText.value("-inf", .doubleAttributeType) as? Double == -.infinity)
    }

    @Test("Archives are shown without creating what is in them, with their bytes")
    func archives() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: ["name": "Emma", "pages": 474] as NSDictionary, requiringSecureCoding: true)
        let shown = ValueHTML.long(.data(data), address: "/value").text
        #expect(shown.contains("keyed archive, <a href=\"/value\" download>"))
        #expect(shown.contains("&quot;name&quot;: &quot;Emma&quot;") || shown.contains("\"name\": \"Emma\""))
        #expect(shown.contains("<summary class=\"sub\">Bytes</summary><pre class=\"hex\">000000  62 70 6c 69"))
        #expect(!ValueHTML.long(.data(Data("bplist00 broken".utf8)), address: "").text.contains("archive"))
    }

    @Test("An archive of references to references is shown without following them")
    func references() throws {
        let count = 50_000
        let archive = PropertyList.dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
            "$top": .dictionary(["root": .uid(1)]),
            "$objects": .array([.string("$null")] + (2...count).map { .uid(UInt32($0)) } + [.string("end")]),
        ])
        let shown = ValueHTML.long(.data(try archive.binaryData()), address: "").text
        #expect(shown.utf8.count < 100_000)
    }

    @Test(
        "A cell that needs quotation marks has them",
        arguments: [("a", "a"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""), (" a", "\" a\"")])
    func cells(_ text: String, _ cell: String) { #expect(CSVText.quoted(text) == cell) }
}
