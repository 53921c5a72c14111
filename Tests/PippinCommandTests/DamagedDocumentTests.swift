import StoreReading
import TestSupport
import Testing

@testable import CoreData
@testable import PippinCommand

/// Somebody who looks at a file without its model may do so since something is wrong with it.
@Suite("XML and binary stores without a model, with objects that contradict one another")
struct DamagedDocumentTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func write(_ objects: String) throws {
        let file = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
            <database><databaseInfo><UUID>4B1F</UUID><nextObjectID>103</nextObjectID><metadata></metadata></databaseInfo>
            \(objects)
            </database>
            """
        try Data(file.utf8).write(to: folder.store)
    }

    /// What `pippin dump` shows of a file, which `pippin info` shows as well.
    private func dump(_ objects: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try write(objects)
        let info = CommandRun("info", folder.store.path)
        #expect(info.status == 0, "\(info.errors)", sourceLocation: sourceLocation)
        let run = CommandRun("dump", folder.store.path)
        #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
        return run.output
    }

    private func object(_ entity: String, _ number: Int, _ properties: String...) -> String {
        "<object type=\"\(entity)\" id=\"z\(number)\">\(properties.joined())</object>\n"
    }

    private func attribute(_ name: String, _ text: String, _ type: String = "string") -> String {
        "<attribute name=\"\(name)\" type=\"\(type)\">\(text)</attribute>"
    }

    private func relationship(_ name: String, _ numbers: Int..., type: String = "0/1", to entity: String) -> String {
        let references = numbers.map { "z\($0)" }.joined(separator: " ")
        return "<relationship name=\"\(name)\" type=\"\(type)\" destination=\"\(entity)\" idrefs=\"\(references)\"/>"
    }

    @Test("are shown where values are not of the types that are given for them")
    func values() throws {
        let text = try dump(
            object("A", 101, attribute("born", "2010-01-01", "date"), attribute("size", "5", "int16"))
                + object("A", 102, attribute("born", "86400", "date"), attribute("size", "much", "int16"))
                + object("A", 103, attribute("home", "cellar", "composite"), attribute("Kind", "tall", "undefined")))
        for value in ["2010-01-01", "86400", "much", "cellar", "tall"] { #expect(text.contains(value), "\(text)") }
    }

    @Test("are shown where the types of one attribute differ, also between an entity and a subentity")
    func types() throws {
        let text = try dump(
            object("PERSON", 101, attribute("born", "86400.5", "date"))
                + object("EMPLOYEE", 102, attribute("born", "in May"), attribute("pay", "12.50", "decimal"))
                + object("EMPLOYEE", 103, attribute("pay", "a lot", "binary"))
                + object("COMPANY", 104, relationship("staff", 101, 102, type: "0/0", to: "PERSON")))
        for value in ["86400.5", "in May", "12.50", "a lot"] { #expect(text.contains(value), "\(text)") }
    }

    @Test("are shown where two objects have one number, which is said")
    func numbers() throws {
        let text = try dump(object("A", 101, attribute("name", "Ann")) + object("B", 101, attribute("name", "Bea")))
        #expect(text.contains("Ann") && text.contains("Bea"))
        #expect(CommandRun("dump", folder.store.path).errors.contains("1 object with the number of another one"))
    }

    @Test("are shown where a relationship to one object leads to two, or to an object of another entity")
    func relationships() throws {
        let text = try dump(
            object("A", 101, relationship("other", 102, 103, to: "B")) + object("B", 102, attribute("name", "Ann"))
                + object("B", 103, attribute("name", "Bea"), relationship("next", 101, to: "B")))
        #expect(text.contains("Ann") && text.contains("Bea"))
        let query = CommandRun("query", folder.store.path, "A where any other.name == \"Bea\"", "--format", "jsonl")
        #expect(query.status == 0 && query.output.contains("/A/p101"), "\(query.output)\(query.errors)")
    }

    @Test("are shown where relationships contradict each other about what inherits from what, which is said")
    func contradiction() throws {
        let text = try dump(
            object("CAT", 102, attribute("name", "Tom"), relationship("other", 103, to: "CAT"))
                + object("DOG", 103, attribute("name", "Rex"), relationship("other", 102, to: "DOG")))
        #expect(text.contains("Tom") && text.contains("Rex"))
        let query = CommandRun("query", folder.store.path, "CAT where other.name == \"Rex\"")
        #expect(query.output.contains("Tom"), "\(query.output)\(query.errors)")
        #expect(query.errors.contains("contradict each other about which entities inherit from which"))
    }

    @Test("are shown where an attribute has elements and a value, or is a relationship as well")
    func names() throws {
        let text = try dump(
            object("A", 101, attribute("home", "here"), attribute("home.city", "Rome"))
                + object("A", 102, attribute("other", "there"), relationship("other", 101, to: "A")))
        for value in ["here", "Rome", "there"] { #expect(text.contains(value), "\(text)") }
    }

    @Test("have the elements of a composite attribute that occur on several levels of inheritance")
    func elements() throws {
        let text = try dump(
            object("PERSON", 101, attribute("home.city", "Rome"))
                + object("EMPLOYEE", 102, attribute("home.city", "Oslo"), attribute("home.street", "Main"))
                + object("COMPANY", 103, relationship("staff", 101, 102, type: "0/0", to: "PERSON")))
        for value in ["Rome", "Oslo", "Main"] { #expect(text.contains(value), "\(text)") }
        #expect(CommandRun("info", folder.store.path).output.contains("EMPLOYEE : PERSON"))
        let query = CommandRun("query", folder.store.path, "PERSON where home.street == \"Main\"")
        #expect(query.output.contains("Oslo"), "\(query.output)\(query.errors)")
    }

    @Test("have composite attributes of 32 levels, and attributes with names of more")
    func depth() throws {
        for count in [32, 33, 30_000] {
            let name = Array(repeating: "a", count: count + 1).joined(separator: ".")
            #expect(try dump(object("A", 101, attribute(name, "deep"))).contains("deep"))
        }
    }

    @Test("A file without objects is shown as such")
    func empty() throws {
        #expect(try dump("").contains("4B1F"))
        #expect(CommandRun("info", folder.store.path).output.contains("4B1F"))
        #expect(CommandRun("query", folder.store.path, "Book").status == 1)
    }

    @Test("A binary file whose values are not of the types that it declares is shown")
    func binary() throws {
        let source = """
            <model><entity name="A"><attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="size" optional="YES" attributeType="Integer 16"/></entity></model>
            """
        let layout = try ModelAssembler.model(SourceReader.document(of: Data(source.utf8))).compiledLayout()
        var document = StoreDocument(
            metadata: [NSStoreUUIDKey: "4B1F", NSStoreTypeKey: NSBinaryStoreType], lastKey: 102)
        for (key, name, size) in [
            (101, StoreDocument.FileValue.integer(5), StoreDocument.FileValue.double(7.5)),
            (102, .text("Ann"), .data(Data("PNG".utf8))),
        ] {
            var object = StoreDocument.Object(entityName: "A", key: Int64(key))
            object.attributes = [("name", name), ("size", size)]
            document.objects.append(object)
        }
        try BinaryStoreArchive.data(of: document, entities: layout.entityByName).write(to: folder.store)
        let run = CommandRun("dump", folder.store.path)
        #expect(run.status == 0, "\(run.errors)")
        for value in ["5", "7.5", "Ann", Data("PNG".utf8).base64EncodedString()] { #expect(run.output.contains(value)) }
    }

    @Test("What a model lacks of a composite attribute is named")
    func missingElement() throws {
        try write(object("A", 101, attribute("home.city", "Rome"), attribute("home.street", "Main")))
        let model = folder.file("Places.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let source = """
            <model><entity name="A"><attribute name="home" optional="YES" attributeType="Composite" composite="Place"/></entity>
            <composite name="Place"><attribute name="city" attributeType="String" optional="YES"/></composite></model>
            """
        try Data(source.utf8).write(to: model.appendingPathComponent("contents"))
        let run = CommandRun("dump", folder.store.path, "--model", model.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("object 101 has “home.street”, which entity “A” does not have"), "\(run.errors)")
    }
}
