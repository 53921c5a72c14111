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

    @Test("is one that has more than a document type")
    func documentType() throws {
        let text = "<?xml version=\"1.0\"?><!DOCTYPE model SYSTEM \"model.dtd\">" + Self.model
        #expect(try SourceReader.document(of: Data(text.utf8)).entities.isEmpty)
    }
}
