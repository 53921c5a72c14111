import Foundation
import ModelFiles
import StoreReading
import TestSupport
import Testing

@testable import CoreData
@testable import PippinCommand

/// A binary store of Core Data on macOS, which does not name its attributes, and a model with two versions of as many.
private struct MacDocument {
    let folder: TestFolder
    var url: URL { folder.file("notes.binary") }
    var model: URL { folder.file("Notes.xcdatamodeld") }

    /// - Parameters:
    ///   - identifier: the identifier that the file has of its version, “A”.
    ///   - hasHashes: whether the file has version hashes.
    /// - Throws: the errors of writing the files.
    init(identifier: String, hasHashes: Bool = true) throws {
        folder = try TestFolder()
        try writeModel()
        var document = StoreDocument(
            metadata: [
                NSStoreUUIDKey: "1D7A3B1E-9C57-4B43-8F2B-6A5C1D5F0E11", NSStoreTypeKey: NSBinaryStoreType,
                NSStoreModelVersionIdentifiersKey: [identifier],
            ], lastKey: 1)
        if hasHashes {
            document.metadata[NSStoreModelVersionHashesKey] = ["Note": Data(repeating: 7, count: 32)]
            document.metadata["NSStoreModelVersionHashesVersion"] = 3
        }
        var note = StoreDocument.Object(entityName: "Note", key: 1)
        note.attributes = [("text", .text("Dear Jane")), ("title", .text("Letter"))]
        document.objects = [note]
        let entities = try ModelPackage(at: model).model(version: "A").compiledLayout().entityByName
        try CoreDataBinaryFile.data(of: document, entities: entities, order: PlaceOrder()).write(to: url)
    }

    /// Version B, the current one, has a label in the place of the text.
    private func writeModel() throws {
        for (version, first) in [("A", "text"), ("B", "label")] {
            let package = model.appendingPathComponent("\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
            let text = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
                userDefinedModelVersionIdentifier="\(version)">
                    <entity name="Note" syncable="YES">
                        <attribute name="\(first)" optional="YES" attributeType="String"/>
                        <attribute name="title" optional="YES" attributeType="String"/>
                    </entity>
                </model>
                """
            try Data(text.utf8).write(to: package.appendingPathComponent("contents"))
        }
        let current = try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "B.xcdatamodel"], format: .xml, options: 0)
        try current.write(to: model.appendingPathComponent(".xccurrentversion"))
    }

    func importing(_ line: String) throws -> CommandRun {
        let file = folder.file("notes.jsonl")
        try Data((line + "\n").utf8).write(to: file)
        return CommandRun("import", url.path, "Note", file.path, "--model", model.path)
    }

    /// The values of the file by place.
    func places() throws -> [[String]] {
        try CoreDataBinaryFile.document(of: Data(contentsOf: url)).objects.sorted { $0.key < $1.key }.map { object in
            try (object.places ?? []).compactMap { try FileValues.fileValue($0, of: nil) }.map { "\($0)" }
        }
    }
}

@Suite("A document that does not name its attributes")
struct MacDocumentTests {
    @Test("is written with the version that its identifier names, which need not be the current one")
    func importing() throws {
        let document = try MacDocument(identifier: "A")
        #expect(try document.importing(#"{"label": "b", "title": "a"}"#).status == 1)
        let run = try document.importing(#"{"title": "Invoice", "text": "Dear John"}"#)
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            try document.places() == [
                [#"text("Dear Jane")"#, #"text("Letter")"#], [#"text("Dear John")"#, #"text("Invoice")"#],
            ])
    }

    @Test("is not written if it may be of several versions", arguments: [true, false])
    func unclear(hasHashes: Bool) throws {
        let document = try MacDocument(identifier: "", hasHashes: hasHashes)
        let before = try Data(contentsOf: document.url)
        let run = try document.importing(#"{"title": "Invoice"}"#)
        #expect(run.status == 1)
        #expect(run.errors.contains("does not name its attributes, and is of the version “A” or “B” of the model"))
        #expect(try Data(contentsOf: document.url) == before)
    }

    @Test("is not said to fit a model if it may be of another version of it", arguments: [true, false])
    func migrating(hasHashes: Bool) throws {
        let document = try MacDocument(identifier: "", hasHashes: hasHashes)
        for version in ["A", "B"] {
            let run = CommandRun("migrate", document.url.path, "--to", document.model.path, "--version", version)
            #expect(run.status == 1)
            #expect(!run.output.contains("fits the model already"))
            #expect(run.errors.contains("does not name its attributes"))
        }
    }

    @Test("fits the version that its identifier names")
    func fitting() throws {
        let document = try MacDocument(identifier: "A")
        let run = CommandRun("migrate", document.url.path, "--to", document.model.path, "--version", "A")
        #expect(run.output.contains("fits the model already"), "\(run.errors)")
    }
}
