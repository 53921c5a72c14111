import CoreData
import Foundation
import ModelFiles
import TestSupport
import Testing

@Suite("Models behind symbolic links")
struct LinkedModelTests {
    @Test("are compiled and loaded like the models that the links lead to")
    func links() throws {
        try inTestFolder { folder in
            let version = folder.appendingPathComponent("Models/Shop.xcdatamodeld/Shop.xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            let xml = "<model><entity name='Item'><attribute name='name' attributeType='String'/></entity></model>"
            try Data(xml.utf8).write(to: version.appendingPathComponent("contents"))
            func link(_ name: String, to path: String) throws -> URL {
                let link = folder.appendingPathComponent(name)
                try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: path)
                return link
            }

            let source = try link("Shared.xcdatamodeld", to: "Models/Shop.xcdatamodeld")
            let compiled = folder.appendingPathComponent("Shop.momd")
            try SourceModelCompiler.compileModel(at: source, to: compiled)
            let loaded = try #require(NSManagedObjectModel(contentsOf: link("Linked.momd", to: "Shop.momd")))
            #expect(loaded.entitiesByName.keys.sorted() == ["Item"])
        }
    }
}
