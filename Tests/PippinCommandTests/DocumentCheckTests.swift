import StoreReading
import TestSupport
import Testing

@testable import CoreData
@testable import PippinCommand

@Suite("What is wrong with XML and binary stores")
struct DocumentCheckTests {
    private let folder: TestFolder
    private var path: String { folder.store.path }

    init() throws { folder = try TestFolder() }

    private func write(_ objects: String, metadata: String = "", end: String = "</database>") throws {
        let file = """
            <?xml version="1.0"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
            <database><databaseInfo><UUID>4B1F</UUID><nextObjectID>200</nextObjectID>
            <metadata>\(metadata)</metadata></databaseInfo>
            \(objects)
            \(end)
            """
        try Data(file.utf8).write(to: folder.store)
    }

    private func run(_ command: String...) -> CommandRun {
        CommandRun(arguments: [command[0], path] + command.dropFirst())
    }

    // MARK: Check

    @Test("is named by check: numbers and properties that are there twice, references to what is gone, odd values")
    func problems() throws {
        try write(
            """
            <object type="NOTE" id="z102"><attribute name="a" type="string">1</attribute>
            <attribute name="a" type="string">2</attribute><attribute name="small" type="int16">99999</attribute></object>
            <object type="NOTE" id="z102"></object>
            <object type="NOTE" id="z103"><relationship name="r" type="0/1" destination="NOTE" idrefs="z777"/></object>
            """)
        let check = run("check")
        #expect(check.status == 3)
        for text in [
            "4 things are wrong", "objects have the number of another one: 102",
            "“NOTE.a” of 1 object is there more than once: NOTE/p102",
            "“NOTE.small” of 1 object has no value of type Integer 16: NOTE/p102",
            "“NOTE.r” of 1 object leads to objects that are gone: NOTE/p103",
        ] { #expect(check.output.contains(text), "\(check.output)") }
    }

    @Test("is named by check with a model, too, also where the file cannot be opened with it")
    func problemsWithModel() throws {
        let model = folder.file("Notes.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let source = """
            <model><entity name="Note"><attribute name="small" optional="YES" attributeType="Integer 16"/>
            <relationship name="next" optional="YES" maxCount="1" destinationEntity="Note"/></entity></model>
            """
        try Data(source.utf8).write(to: model.appendingPathComponent("contents"))
        let object = """
            <object type="NOTE" id="z102"><attribute name="small" type="int16">99999</attribute>
            <relationship name="next" type="0/1" destination="NOTE" idrefs="z777"/></object>
            """
        try write(object)
        let check = run("check", "--model", model.path)
        #expect(check.status == 3)
        #expect(check.output.contains("“Note.small” of 1 object has no value of type Integer 16: Note/p102"))
        #expect(check.output.contains("“Note.next” of 1 object leads to objects that are gone: Note/p102"))
        let query = run("query", "Note", "--format", "jsonl", "--model", model.path)
        #expect(query.output.contains("\"small\": 99999"), "\(query.output)")
        try write(object + object)
        #expect(run("check", "--model", model.path).output.contains("objects have the number of another one: 102"))
    }

    @Test("does not make values fit: what is not of its type is shown as the file has it, and the attribute is named")
    func values() throws {
        try write(
            """
            <object type="NOTE" id="z102"><attribute name="dec" type="decimal">12abc</attribute>
            <attribute name="pi" type="decimal">3,14</attribute><attribute name="flag" type="bool">7</attribute>
            <attribute name="small" type="int16">99999</attribute><attribute name="day" type="date">nan</attribute>
            <attribute name="fine" type="decimal">-1.50</attribute></object>
            """)
        let query = run("query", "NOTE", "--format", "json")
        for text in [
            "\"dec\": \"12abc\"", "\"pi\": \"3,14\"", "\"flag\": 7", "\"small\": 99999", "\"day\": \"nan\"",
        ] { #expect(query.output.contains(text), "\(query.output)") }
        #expect(query.errors.contains("not all values of “NOTE.day”, “NOTE.dec”, “NOTE.flag”, “NOTE.pi”, “NOTE.small”"))
        #expect(run("check").output.contains("“NOTE.flag” of 1 object has no value of type Boolean: NOTE/p102"))
    }

    // MARK: What is left of a file

    @Test("An attribute that is also a relationship is named")
    func clash() throws {
        try write(
            """
            <object type="A" id="z102"><attribute name="home" type="string">here</attribute>
            <relationship name="home" type="0/1" destination="A" idrefs="z102"/></object>
            """)
        let dump = run("dump")
        #expect(dump.output.contains("here"))
        #expect(dump.errors.contains("of the name “A.home” there is a relationship, too, which is not shown"))
    }

    @Test("A property with the name of an object's own number is written under another one")
    func objectID() throws {
        try write("<object type=\"A\" id=\"z102\"><attribute name=\"objectID\" type=\"string\">x</attribute></object>")
        #expect(run("query", "A", "--format", "csv").output.hasPrefix("objectID,objectID 2\r\n"))
        for output in [run("query", "A", "--format", "jsonl").output, run("dump", "--json").output] {
            #expect(output.contains("{\"objectID\": \"x-coredata://"), "\(output)")
            #expect(output.contains("\"objectID 2\": \"x\"}"), "\(output)")
        }
    }

    @Test("Names that are empty, or spelled in two ways, do not hide the objects")
    func names() throws {
        let hashes = "<key>NSStoreModelVersionHashes</key><dict><key>Note</key><data>AAAA</data></dict>"
        try write(
            """
            <object type="Note" id="z102"><attribute name="a" type="string">one</attribute></object>
            <object type="NOTE" id="z103"><attribute name="a" type="string">two</attribute></object>
            <object type="" id="z104"><attribute name="" type="string">three</attribute></object>
            """, metadata: "<plist version=\"1.0\"><dict>\(hashes)</dict></plist>")
        let dump = run("dump")
        #expect(dump.status == 0, "\(dump.errors)")
        #expect(dump.output.contains("Note   2 objects"), "\(dump.output)")
        for text in ["one", "two", "three", "unnamed"] { #expect(dump.output.contains(text), "\(dump.output)") }
    }

    @Test("Of a file that is cut off, what comes before is shown")
    func cutOff() throws {
        try write(
            "<object type=\"A\" id=\"z102\"><attribute name=\"a\" type=\"string\">one</attribute></object>",
            end: "<object type=\"A\" id=\"z103\"><attribute na")
        let dump = run("dump")
        #expect(dump.status == 0, "\(dump.errors)")
        #expect(dump.output.contains("one") && dump.output.contains("4B1F"))
        #expect(dump.errors.contains("the XML is not well formed, and not read from there on"), "\(dump.errors)")
        #expect(run("check").status == 3)
    }

    @Test("Metadata that are damaged, or come after a comment that names them, do not hide the objects")
    func metadata() throws {
        let object = "<object type=\"A\" id=\"z102\"><attribute name=\"a\" type=\"string\">one</attribute></object>"
        try write(object, metadata: "<plist version=\"1.0\"><string>x</string></plist>")
        #expect(run("dump").output.contains("one"), "\(run("dump").errors)")
        #expect(run("info").output.contains("its metadata are not a dictionary"))
        try write(object)
        let text = try String(contentsOf: folder.store, encoding: .utf8)
        try Data(text.replacing("<databaseInfo>", with: "<!-- <metadata> --><databaseInfo>").utf8)
            .write(to: folder.store)
        #expect(run("dump").output.contains("one"), "\(run("dump").errors)")
    }

    @Test("Objects of a binary file with fewer values than others, or with more, are shown")
    func places() throws {
        let source = """
            <model><entity name="A"><attribute name="one" optional="YES" attributeType="String"/>
            <attribute name="two" optional="YES" attributeType="String"/></entity><entity name="B">
            <attribute name="one" optional="YES" attributeType="String"/></entity></model>
            """
        let layout = try ModelAssembler.model(SourceReader.document(of: Data(source.utf8))).compiledLayout()
        var document = StoreDocument(
            metadata: [NSStoreUUIDKey: "4B1F", NSStoreTypeKey: NSBinaryStoreType], lastKey: 3)
        for (key, entity, values) in [(1, "A", ["Ann", "Bea"]), (2, "B", ["Cleo"])] {
            var object = StoreDocument.Object(entityName: entity, key: Int64(key))
            object.attributes = zip(["one", "two"], values).map { ($0, .text($1)) }
            document.objects.append(object)
        }
        // For those who read the file, both objects are of one entity.
        let data = try CoreDataBinaryFile.data(of: document, entities: layout.entityByName, order: PlaceOrder())
        try Self.renaming("B", "A", in: data).write(to: folder.store)
        let dump = run("dump")
        #expect(dump.status == 0, "\(dump.errors)")
        for value in ["Ann", "Bea", "Cleo"] { #expect(dump.output.contains(value), "\(dump.output)") }
    }

    /// Renames an entity of one letter: a string of a binary property list is a marker for its length, and its letters.
    private static func renaming(_ name: String, _ other: String, in data: Data) throws -> Data {
        var data = data
        let place = try #require(data.range(of: Data([0x51]) + Data(name.utf8)))
        data.replaceSubrange(place, with: Data([0x51]) + Data(other.utf8))
        return data
    }
}
