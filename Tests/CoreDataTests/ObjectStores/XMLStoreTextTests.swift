import CoreData
import Foundation
import ModelFiles
import ModelSourceWriting
import TestSupport
import Testing

/// Core Data escapes backslashes, `&`, `<` and `>` in the values of XML stores by itself: seen in files of several
/// programs, in which runs of backslashes have an even length, or one odd before `u` and four digits.
@Suite("The texts of values in XML stores")
struct XMLStoreTextTests {
    @Test(
        "are written as Core Data writes them, and read again",
        arguments: [
            ("plain", "plain"), ("", ""), ("C:\\new <b> & \"q\"", #"C:\\new \u3c00b\u3e00 \u2600 "q""#),
            (#"\u2600"#, #"\\u2600"#), (#"\\"#, #"\\\\"#), ("e\u{301}<\u{1F469}>", "e\u{301}\\u3c00\u{1F469}\\u3e00"),
        ])
    func texts(value: String, text: String) {
        #expect(XMLStoreText.encoded(value) == text)
        #expect(XMLStoreText.decoded(text) == value)
    }

    @Test("are read where two units make a character, and where a backslash begins no escape")
    func otherTexts() {
        #expect(XMLStoreText.decoded(#"\u3dd8\u69dc!"#) == "\u{1F469}!")
        #expect(XMLStoreText.decoded(#"a\b \u26 \u26zz \"#) == #"a\b \u26 \u26zz \"#)
    }

    @Test("A store of Core Data's has its values, and is written in the same way")
    func store() throws {
        let library = try DocumentStoreTests()
        let context = try library.open(NSXMLStoreType)
        try context.performAndWait {
            context.make("Tag", ["name": #"<note> R&D C:\temp"#])
            try context.save()
        }
        let text = try String(contentsOf: library.folder.file("library"), encoding: .utf8)
        #expect(text.contains(#">\u3c00note\u3e00 R\u2600D C:\\temp</attribute>"#))
        let again = try library.open(NSXMLStoreType)
        try again.performAndWait {
            let names = try again.all("Tag").map { $0.string("name") }
            #expect(names == [#"<note> R&D C:\temp"#])
        }
    }

    @Test("A mapping model's filter is compiled as it was meant, and written as it was read")
    func mapping() throws {
        let text = #"FUNCTION($manager, "fetch") \u3c00 10"#
        let document = """
            <database><databaseInfo><UUID>5</UUID></databaseInfo>
            <object type="XDDEVMAPPINGMODEL" id="z103"></object>
            <object type="XDDEVENTITYMAPPING" id="z104"><attribute name="filter" type="string">\(text)</attribute></object>
            </database>
            """
        let source = try MappingSourceReader.source(of: Data(document.utf8))
        #expect(source.objects.last?.fields.map(\.text) == [#"FUNCTION($manager, "fetch") < 10"#])
        #expect(try MappingSourceWriter.contents(of: source).contains(">\(text)</attribute>"))
    }
}
