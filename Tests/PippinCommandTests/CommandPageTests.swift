import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("The page on the command")
struct CommandPageTests {
    @Test("shows what the commands print, and their exit statuses")
    func examples() throws {
        let page = try CommandPage()
        #expect(page.files.count == 3)
        #expect(page.examples.count >= 13)
        try inTestFolder { folder in
            for (path, text) in page.files {
                let file = folder.appendingPathComponent(path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try text.write(to: file, atomically: true, encoding: .utf8)
            }
            let current = "Library.xcdatamodeld/.xccurrentversion"
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(current).path))
            try makeStore(in: folder)
            for example in page.examples { try check(example, in: folder) }
        }
    }

    private func check(_ example: CommandPage.Example, in folder: URL) throws {
        let arguments = example.arguments.map { argument in
            argument.contains(".") ? folder.appendingPathComponent(argument).path : argument
        }
        var printed = ""
        let status = PippinCommand.run(arguments, output: { printed += $0 }, errors: { printed += $0 })
        #expect(status == example.status, "\(example.command)")
        var lines = printed.replacingOccurrences(of: folder.path + "/", with: "").components(separatedBy: "\n")
        var expected = example.output
        while lines.last?.isEmpty == true { lines.removeLast() }
        while expected.last?.isEmpty == true { expected.removeLast() }
        let isSame =
            lines.count == expected.count && zip(lines, expected).allSatisfy { CommandPage.matches($0, $1) }
        #expect(isSame, "\(example.command)\n\(lines.joined(separator: "\n"))")
    }

    /// A store of the first version: an author with two books.
    private func makeStore(in folder: URL) throws {
        let url = folder.appendingPathComponent("Library.xcdatamodeld")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try ModelPackage(at: url).model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("books.sqlite"))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Jane Austen", forKey: "name")
            for (title, pages) in [("Emma", 474), ("Persuasion", 249)] {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue(title, forKey: "title")
                book.setValue(pages, forKey: "pages")
                book.setValue(author, forKey: "author")
                // One after the other, so that their keys are in this order.
                try context.save()
            }
        }
        try coordinator.remove(store)
    }
}
