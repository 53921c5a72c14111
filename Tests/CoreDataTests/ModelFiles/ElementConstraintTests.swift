import CodeGeneration
import CoreData
import Testing

@Suite("A uniqueness constraint on an element of a composite attribute")
struct ElementConstraintTests {
    private static func source(_ name: String) -> String {
        """
        <model><entity name="A"><attribute name="home" attributeType="Composite" composite="Place"/>
        <uniquenessConstraints><uniquenessConstraint>
        <constraint value="\(name)"/></uniquenessConstraint></uniquenessConstraints></entity>
        <composite name="Place"><attribute name="city" attributeType="String" optional="YES"/></composite></model>
        """
    }

    @Test("is refused in a source, with its line")
    func refused() throws {
        let error = #expect(throws: ModelFileError.self) {
            try SourceReader.document(of: Data(Self.source("home.city").utf8))
        }
        #expect(error?.line == 3 && error?.entity == "A")
        #expect(error?.reason.contains("“home.city”, an element of a composite attribute") == true)
    }

    @Test("is kept in a compiled model, which is used; one on anything else is refused")
    func compiled() throws {
        var document = try SourceReader.document(of: Data(Self.source("home").utf8))
        document.entities[0].uniquenessConstraints = [["home.city"]]
        let read = try ModelArchiveReader.document(of: SourceModelCompiler.compiledData(of: document))
        let model = try ModelAssembler.model(read)
        #expect(model.entities[0].uniquenessConstraints as? [[String]] == [["home.city"]])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        for name in ["home.street", "city", "home.city.x"] {
            document.entities[0].uniquenessConstraints = [[name]]
            #expect(throws: (any Error).self) { try ModelAssembler.model(document) }
        }
    }

    @Test("is left out of a source that is written from a compiled model, which says so")
    func extracted() throws {
        var document = try SourceReader.document(of: Data(Self.source("home").utf8))
        document.entities[0].uniquenessConstraints = [["home.city"]]
        let contents = try SourceWriter.contents(of: document)
        #expect(!contents.contains("uniquenessConstraint"))
        #expect(
            try SourceLoss.losses(of: document, in: contents).map(\.text)
                == ["A: its uniqueness constraint on home.city, which no source may have"])
    }
}
