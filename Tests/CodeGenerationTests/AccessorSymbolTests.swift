import Foundation
import TestSupport
import Testing

@testable import CodeGeneration

@Suite("Symbols of accessors", .ownThread)
struct AccessorSymbolTests {
    @Test("The hash of an enumeration in a later file is not taken for an accessor")
    func enumeration() throws {
        let compiler = try #require(AccessorTests.compiler)
        let folder = try TemporaryFolder()
        let paths = [
            try folder.write(
                "Note.swift",
                """
                import CoreData

                class Note: NSManagedObject {
                    @NSManaged var text: String
                    @NSManaged var kind: NoteKind
                }
                """),
            try folder.write("NoteKind.swift", "enum NoteKind: Int { case plain, structured }"),
        ]
        let target = TargetSources(moduleName: "App", paths: paths, generatedClasses: [], dependencies: [:])
        let text = try AccessorGenerator(target: target, compiler: compiler).source()
        let symbols = text.components(separatedBy: "@_silgen_name(\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(
            symbols == [
                "$s3App4NoteC4textSSvg", "$s3App4NoteC4textSSvs", "$s3App4NoteC4kindAA0B4KindOvg",
                "$s3App4NoteC4kindAA0B4KindOvs",
            ])
    }

    @Test("A module may have the words of the marker in its name", arguments: ["pippin_app", "Marker", "pippinMarker"])
    func moduleNames(module: String) throws {
        let compiler = try #require(AccessorTests.compiler)
        let folder = try TemporaryFolder()
        let path = try folder.write(
            "Note.swift", "import CoreData\nclass Note: NSManagedObject { @NSManaged var text: String }")
        let target = TargetSources(moduleName: module, paths: [path], generatedClasses: [], dependencies: [:])
        let text = try AccessorGenerator(target: target, compiler: compiler).source()
        #expect(text.contains("@_silgen_name(\"$s\(module.utf8.count)\(module)4NoteC4textSSvg\")"))
    }
}
