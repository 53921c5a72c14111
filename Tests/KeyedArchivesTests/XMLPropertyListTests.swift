import Foundation
import ModelFiles
import Testing

@Suite("Property lists as XML")
struct XMLPropertyListTests {
    @Test("Foundation reads what was written")
    func roundTrip() throws {
        let list = PropertyList.dictionary([
            "array": .array([.string("a"), .integer(-3), .array([])]), "boolean": .boolean(true),
            "bytes": .data(Data([1, 2, 255])), "date": .date(Date(timeIntervalSinceReferenceDate: 1000)),
            "empty": .dictionary([:]), "large": .unsignedInteger(UInt64.max), "real": .real(1.5),
            "text": .string("Ümläute <&> \"'\r\n\t"), "<key>": .string(""),
        ])
        let object = try PropertyListSerialization.propertyList(from: list.xmlData(), format: nil)
        #expect(try PropertyList(foundationObject: object) == list)
    }

    @Test("The layout is Foundation's")
    func layout() throws {
        let list = PropertyList.dictionary(["b": .array([.integer(1)]), "a": .string("x")])
        #expect(
            try String(decoding: list.xmlData(), as: UTF8.self) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                \t<key>a</key>
                \t<string>x</string>
                \t<key>b</key>
                \t<array>
                \t\t<integer>1</integer>
                \t</array>
                </dict>
                </plist>

                """)
    }

    @Test(
        "What XML cannot hold is refused with its place, as no reader would take the file",
        arguments: ["\u{0}", "\u{1F}"])
    func unwritable(character: String) throws {
        let list = PropertyList.dictionary(["titles": .array([.string("a"), .string("b" + character)])])
        let error = #expect(throws: PropertyListError.self) { try list.xmlData() }
        #expect(error?.description.contains("the text at “titles.1”: XML cannot hold the character U+00") == true)
        let key = PropertyList.dictionary([character: .integer(1)])
        #expect(throws: PropertyListError.self) { try key.xmlData() }
    }
}
