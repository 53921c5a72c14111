import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("What a damaged XML or binary store says is an error, or a value, and never ends the program")
struct DamagedDocumentTests {
    private let folder: TestFolder
    private var url: URL { folder.file("library.xml") }

    init() throws { folder = try TestFolder() }

    /// Makes an XML store with an author, and replaces a part of its text.
    private func damage(_ text: String, to other: String) throws {
        let context = try open()
        try context.performAndWait {
            context.make("Author", ["name": "Ann", "born": Date(timeIntervalSinceReferenceDate: 77)])
            try context.save()
        }
        let contents = try String(contentsOf: url, encoding: .utf8)
        try #require(contents.contains(text))
        try contents.replacing(text, with: other).write(to: url, atomically: true, encoding: .utf8)
    }

    private func open() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("A store whose numbers have been used up is damaged")
    func numbers() throws {
        try damage("<nextObjectID>102<", to: "<nextObjectID>9223372036854775807<")
        let error = #expect(throws: NSError.self) { _ = try open() }
        #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(error?.localizedDescription.contains("9223372036854775807") == true)
    }

    @Test("An object that leaves no number for others is refused, too")
    func objectNumber() throws {
        try damage("id=\"z102\"", to: "id=\"z9223372036854775807\"")
        let error = #expect(throws: NSError.self) { _ = try open() }
        #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
    }

    @Test("A date that is not a number is not a value, as in SQLite")
    func date() throws {
        try damage(">77.00000000000000000000<", to: ">nan<")
        let context = try open()
        try context.performAndWait {
            let author = try #require(try context.all("Author").first)
            #expect(author.value(forKey: "born") == nil)
            #expect(author.description.contains("Ann"))
        }
    }
}
