import Foundation
import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("A source model that Foundation's parser would stop the program over")
struct HostileSourceTests {
    private static let model = "<model documentVersion=\"1.0\"></model>"

    @Test(
        "is refused, saying what it has",
        arguments: [
            ("<!DOCTYPE model [<!ATTLIST model b CDATA #IMPLIED>]>", "<!ATTLIST"),
            ("<!DOCTYPE model [<!NOTATION n SYSTEM 'x'>]>", "<!NOTATION"),
            ("<!DOCTYPE model [<!ENTITY e SYSTEM 'x' NDATA n>]>", "<!ENTITY"),
            ("<!DOCTYPE model [<!ELEMENT model EMPTY>]>", "<!ELEMENT"),
            ("<?x?>", "processing instruction"),
        ])
    func refused(prolog: String, reason: String) {
        for start in ["", "<?xml version=\"1.0\"?>"] {
            let data = Data((start + prolog + Self.model).utf8)
            let error = #expect(throws: ModelFileError.self) { try SourceReader.document(of: data) }
            #expect(error?.reason.contains(reason) == true)
        }
    }

    @Test(
        "is refused in an encoding in which it says something else than its bytes do",
        arguments: ["encoding=\"UTF-7\"", "encoding = 'utf-7'", "standalone=\"no\" encoding=\"IBM037\""])
    func encoding(declared: String) {
        let text = "<?xml version=\"1.0\" \(declared)?>+ADw-model>+ADwAPw-x?>+ADw-/model>"
        let error = #expect(throws: ModelFileError.self) { try SourceReader.document(of: Data(text.utf8)) }
        #expect(error?.reason.contains("UTF-8 expected") == true)
    }

    @Test("is not seen in UTF-8 and ASCII, however they are spelled", arguments: ["utf-8", "UTF-8", "US-ASCII"])
    func plainEncoding(name: String) throws {
        let text = "<?xml version='1.0' encoding='\(name)' standalone='yes'?>\(Self.model)"
        #expect(try SourceReader.document(of: Data(text.utf8)).entities.isEmpty)
    }

    @Test("is not seen in a document type alone")
    func documentType() throws {
        let text = "<?xml version=\"1.0\"?><!DOCTYPE model SYSTEM \"model.dtd\">" + Self.model
        #expect(try SourceReader.document(of: Data(text.utf8)).entities.isEmpty)
    }

    @Test("is not seen in the byte order mark that some editors begin a file with")
    func byteOrderMark() throws {
        let text = "\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-8\"?><model><entity name=\"Café\"/></model>"
        #expect(try SourceReader.document(of: Data(text.utf8)).entities.map(\.name) == ["Café"])
    }
}

@Suite("A source model of composite types that contain one another")
struct NestedCompositeTests {
    /// Types in a row, each with as many elements of the next one.
    private static func model(types: Int, width: Int) -> Data {
        func part(_ name: String, _ type: Int) -> String {
            type < types
                ? "<attribute name=\"\(name)\" attributeType=\"Composite\" composite=\"T\(type)\"/>"
                : "<attribute name=\"\(name)\" attributeType=\"String\"/>"
        }
        let definitions = (0..<types).map { type in
            "<composite name=\"T\(type)\">" + (0..<width).map { part("x\($0)", type + 1) }.joined() + "</composite>"
        }
        return Data("<model><entity name=\"A\">\(part("a", 0))</entity>\(definitions.joined())</model>".utf8)
    }

    @Test("is read with all of its elements")
    func small() throws {
        let document = try SourceReader.document(of: Self.model(types: 5, width: 2))
        #expect(document.entities.first?.properties.first?.attribute?.elements.count == 2)
    }

    @Test("is refused, by its attribute, where that has more elements than there is memory for")
    func wide() {
        let error = #expect(throws: ModelFileError.self) {
            try SourceReader.document(of: Self.model(types: 12, width: 10))
        }
        #expect(error?.reason.contains("more than 100000 elements") == true)
        #expect(error?.entity == "A")
    }

    @Test("is refused where they are deeper than can be followed")
    func deep() {
        let error = #expect(throws: ModelFileError.self) {
            try SourceReader.document(of: Self.model(types: 50_000, width: 1))
        }
        #expect(error?.reason.contains("more than 32 levels") == true)
    }
}
