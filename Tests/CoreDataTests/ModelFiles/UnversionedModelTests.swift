import CoreData
import Foundation
import ModelFiles
import TestSupport
import Testing

@Suite("Models without versions, compiled")
struct UnversionedModelTests {
    @Test("An .xcdatamodel becomes a .mom, which is loaded with the version hashes that it has in a .momd")
    func oneFile() throws {
        try inTestFolder { folder in
            let source = folder.appendingPathComponent("Shop.xcdatamodel")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
            let xml = "<model><entity name='Item'><attribute name='name' attributeType='String'/></entity></model>"
            try Data(xml.utf8).write(to: source.appendingPathComponent("contents"))
            let file = folder.appendingPathComponent("Compiled/Shop.mom")
            for _ in 1...2 { try SourceModelCompiler.compileModel(at: source, to: file) }
            let versioned = folder.appendingPathComponent("Shop.momd")
            try SourceModelCompiler.compileModel(at: source, to: versioned)

            #expect(try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/Compiled") == ["Shop.mom"])
            let model = try #require(NSManagedObjectModel(contentsOf: file))
            #expect(model.entitiesByName["Item"]?.attributesByName.keys.sorted() == ["name"])
            let inPackage = try #require(NSManagedObjectModel(contentsOf: versioned))
            #expect(model.entityVersionHashesByName == inPackage.entityVersionHashesByName)
        }
    }
}
