import CodeGeneration
import CoreData
import Foundation
import ModelFiles
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

    @Test(
        "are read plainly from a file that an earlier build wrote, and have escapes once it is saved",
        arguments: [true, false])
    func earlierBuild(hasOwnHashes: Bool) throws {
        let library = try DocumentStoreTests()
        let url = library.folder.file("library")
        let context = try library.open(NSXMLStoreType)
        try context.performAndWait {
            for name in ["first", "second"] { context.make("Tag", ["name": name]) }
            try context.save()
        }
        // As earlier builds wrote them; the second tells by its “&” that Core Data did not write the file.
        let values = [#"{"t":"caf\u00e9"} \\server\share"#, "R&D"]
        var text = try String(contentsOf: url, encoding: .utf8)
        text = text.replacingOccurrences(of: ">first<", with: ">\(values[0])<")
            .replacingOccurrences(of: ">second<", with: ">R&amp;D<")
        for key in ["PippinEscapedText"] + (hasOwnHashes ? [] : ["PippinVersionHashes"]) {
            let entry = "<key>\(key)</key>\\s*<integer>1</integer>"
            let place = try #require(text.range(of: entry, options: .regularExpression))
            text.removeSubrange(place)
        }
        if hasOwnHashes { text = text.replacingOccurrences(of: ">R&amp;D<", with: ">second<") }
        try Data(text.utf8).write(to: url)
        try NSPersistentStoreCoordinator.setMetadata(["note": 1], forPersistentStoreOfType: NSXMLStoreType, at: url)
        for round in 0..<2 {
            let again = try library.open(NSXMLStoreType)
            try again.performAndWait {
                let names = try again.all("Tag").map { $0.string("name") }
                #expect(Set(names) == [hasOwnHashes ? "second" : values[1], values[0]])
                again.make("Author", ["name": "\(round)"])
                try again.save()
            }
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(text.contains(#">{"t":"caf\\u00e9"} \\\\server\\share</attribute>"#))
        }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSXMLStoreType, at: url)
        #expect(metadata["note"] as? Int == 1)
        #expect(metadata["PippinEscapedText"] == nil)
    }

    @Test("A mapping model's filter that an earlier build wrote is compiled as it was meant")
    func earlierMapping() throws {
        let document = """
            <database><databaseInfo><UUID>5</UUID></databaseInfo>
            <object type="XDDEVMAPPINGMODEL" id="z103"></object>
            <object type="XDDEVENTITYMAPPING" id="z104"><attribute name="filter" type="string">a &lt; "\\u2600"</attribute></object>
            </database>
            """
        let source = try MappingSourceReader.source(of: Data(document.utf8))
        #expect(source.objects.last?.fields.map(\.text) == [#"a < "\u2600""#])
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
