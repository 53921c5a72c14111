import CoreData
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("A store whose table begins with a damaged page")
struct DamagedPageTests {
    @Test("is named as damaged by every command that reads its rows", arguments: ["info", "dump", "query"])
    func reading(command: String) throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("books.sqlite")
            let source = """
                <model>
                    <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/></entity>
                    <entity name="Comic" parentEntity="Book"/>
                </model>
                """
            let model = try ModelAssembler.model(SourceReader.document(of: Data(source.utf8)))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            try coordinator.remove(store)
            let connection = try Connection(path: url.path, mode: .readOnly)
            let page = try #require(try connection.integer("SELECT rootpage FROM sqlite_master WHERE name = 'ZBOOK'"))
            let size = try #require(try connection.integer("PRAGMA page_size"))
            var bytes = try Data(contentsOf: url)
            bytes[Int(page - 1) * Int(size)] = 0xFF
            try bytes.write(to: url)
            let run = CommandRun(arguments: [command, url.path] + (command == "query" ? ["Book"] : []))
            #expect(run.status == 1)
            #expect(run.errors.contains("damaged"))
            #expect(run.errors.contains("database disk image is malformed"))
            #expect(run.errors.contains("“pippin check STORE --repair COPY” copies what can be read"), "\(run.errors)")
        }
    }
}
