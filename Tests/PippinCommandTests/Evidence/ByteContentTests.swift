import CoreData
import Foundation
import ModelFiles
import TestSupport
import Testing

@testable import StoreReading

@Suite("What bytes hold")
struct ByteContentTests {
    private func shown(_ data: Data) -> String? { ByteContent.of(data).map { "\($0.form): \($0.json)" } }

    private func archive(_ object: Any) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }

    /// A gzip file: a header without names, the data, a checksum that nobody looks at.
    private func gzip(_ data: Data, flags: UInt8 = 0, name: String = "") throws -> Data {
        var bytes = Data([0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 3])
        if flags & 8 != 0 { bytes += Data(name.utf8) + [0] }
        return bytes + (try RawDeflate.deflate(data)) + Data(count: 8)
    }

    @Test("archives of strings, dates, URLs, numbers and collections are their values")
    func archives() throws {
        #expect(shown(try archive("Emma" as NSString)) == "keyed archive: \"Emma\"")
        #expect(
            shown(try archive(["url": URL(string: "https://example.com/a")! as NSURL] as NSDictionary))
                == "keyed archive: {\"url\": \"https://example.com/a\"}")
        #expect(
            shown(try archive([Date(timeIntervalSinceReferenceDate: 0) as NSDate, 3 as NSNumber] as NSArray))
                == "keyed archive: [\"2001-01-01T00:00:00Z\", 3]")
    }

    @Test("an object of a class that nobody knows is shown as its fields, and a circle ends")
    func unknownClasses() throws {
        let list: PropertyList = .dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
            "$top": .dictionary(["root": .uid(1)]),
            "$objects": .array([
                .string("$null"), .dictionary(["$class": .uid(2), "radius": .real(1.5), "self": .uid(1)]),
                .dictionary([
                    "$classname": .string("Circle"), "$classes": .array([.string("Circle"), .string("NSObject")]),
                ]),
            ]),
        ])
        #expect(
            shown(try list.binaryData())
                == "keyed archive: {\"$class\": \"Circle\", \"radius\": 1.5, \"self\": {\"$same\": 1}}")
    }

    @Test("a key of a dictionary cannot look like the class of an object")
    func forgedClass() throws {
        let list: PropertyList = .dictionary(["$class": .string("Circle")])
        #expect(shown(try list.binaryData()) == "property list: {\"$$class\": \"Circle\"}")
    }

    @Test("property lists in XML, JSON, text and gzip are recognized, also inside each other")
    func forms() throws {
        let xml = "<?xml version=\"1.0\"?><plist version=\"1.0\"><array><string>a</string></array></plist>"
        #expect(shown(Data(xml.utf8)) == "property list: [\"a\"]")
        #expect(shown(Data("{\"a\": 1}".utf8)) == "JSON: {\"a\": 1}")
        #expect(shown(Data("Grüße".utf8)) == "text: \"Grüße\"")
        #expect(shown(try gzip(Data("[1, 2]".utf8))) == "gzip, JSON: [1, 2]")
        #expect(shown(try gzip(Data("[1, 2]".utf8), flags: 8, name: "a.json")) == "gzip, JSON: [1, 2]")
        #expect(shown(Data([0, 1, 2, 3])) == nil)
    }

    @Test("compressed bytes that become very large are not looked into")
    func bombs() throws {
        #expect(shown(try gzip(Data(count: 17 << 20))) == nil)
    }

    @Test(
        "images are their format and size",
        arguments: [
            (
                [
                    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 2, 0x80,
                    0, 0, 1, 0xE0,
                ],
                "PNG image: {\"width\": 640, \"height\": 480}"
            ),
            (
                [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0x80, 0x02, 0xE0, 0x01, 0, 0],
                "GIF image: {\"width\": 640, \"height\": 480}"
            ),
            (
                [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 1, 0xE0, 2, 0x80, 3, 0, 0, 0, 0],
                "JPEG image: {\"width\": 640, \"height\": 480}"
            ),
        ] as [([UInt8], String)])
    func images(bytes: [UInt8], text: String) { #expect(shown(Data(bytes)) == text) }

    /// A field of a message with a length.
    private func field(_ number: UInt8, _ content: Data) -> Data {
        var length = content.count
        var bytes = Data([number << 3 | 2])
        while length > 0x7F {
            bytes.append(UInt8(length & 0x7F | 0x80))
            length >>= 7
        }
        return bytes + [UInt8(length)] + content
    }

    @Test("the body of a note of Apple's is its text, with what is attached by type and identifier")
    func notes() throws {
        let attachment = field(1, Data("4F1B".utf8)) + field(2, Data("com.apple.notes.table".utf8))
        // A run of one character with an attachment, and one without.
        let runs = field(5, Data([8, 5])) + field(5, Data([8, 1]) + field(12, attachment))
        let note = field(2, Data("Shopping\nMilk \u{FFFC}".utf8)) + runs
        let document = field(2, Data([8, 0, 16, 0]) + field(3, note))
        #expect(
            shown(try gzip(Data([8, 0]) + document))
                == "Apple Notes body: {\"text\": \"Shopping\\nMilk \u{FFFC}\", \"attachments\": "
                + "[{\"identifier\": \"4F1B\", \"type\": \"com.apple.notes.table\"}]}")
    }

    @Test("damaged bytes of every form end without a crash")
    func mutants() throws {
        var random = SplitMix(state: 9)
        let forms = [
            try archive(["a": [1, 2], "b": Date()] as NSDictionary), try gzip(Data("[1, 2]".utf8)),
            try gzip(field(2, field(3, field(2, Data("text".utf8))))),
            Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 1, 0xE0, 2, 0x80, 3, 0, 0]),
        ]
        for form in forms {
            for _ in 0..<500 {
                var data = form
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    data[Int.random(in: 0..<data.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                _ = ByteContent.of(data.prefix(Int.random(in: 1...data.count, using: &random)))
            }
        }
    }
}
