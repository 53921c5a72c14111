import CoreData
import TestSupport
import Testing
import SQLGeneration

/// Texts that would end a literal, a statement or a string, or turn the reading direction, if they got into the SQL.
private let hostile = [
    "'", "''", "\"", "`", "]", ";", "--", "/*", "*/", "\\", "%", "_", "?", "?1", ":a", "@a", "$a",
    "a'; DROP TABLE ZBOOK; --", "\" OR 1=1 --", "' UNION SELECT Z_PK FROM ZBOOK --", "a\u{0}b", "\u{0}",
    "\u{202E}evil\u{202C}", "\u{200F}x", "\u{FEFF}", "e\u{301}", "\u{1F469}\u{200D}\u{1F4BB}", "x\ny\tz",
]

@MainActor @Suite("Hostile texts")
struct InjectionTests {
    private func library() throws -> (TestFolder, NSManagedObjectContext) {
        let folder = try TestFolder()
        let context = try Library.stored(at: folder.file("library.sqlite")).viewContext
        for text in hostile { context.make("Book", ["title": text]) }
        context.make("Book", ["title": "Emma"])
        try context.save()
        context.reset()
        return (folder, context)
    }

    @Test(
        "are found as they are as values, and change nothing",
        arguments: [
            "title == %@", "title IN {%@}", "title BEGINSWITH %@ AND title ENDSWITH %@", "title ==[cd] %@",
            "title CONTAINS %@ AND title == %@", "TERNARY(title == %@, 1, 0) == 1", "%@ == title",
        ])
    func values(format: String) throws {
        let (folder, context) = try library()
        defer { withExtendedLifetime(folder) {} }
        let places = format.components(separatedBy: "%@").count - 1
        for text in hostile {
            let predicate = NSPredicate(format: format, argumentArray: Array(repeating: text, count: places))
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = predicate
            let titles = try context.fetch(request).compactMap { $0.string("title") }
            let same = titles.filter { $0.unicodeScalars.elementsEqual(text.unicodeScalars) }
            #expect(same.count == 1, "\(text.debugDescription) in \(format)")
        }
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == hostile.count + 1)
    }

    @Test("are unknown keys as keys, which the error names")
    func keys() throws {
        let (folder, context) = try library()
        defer { withExtendedLifetime(folder) {} }
        for text in hostile where !text.contains(".") {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "%K == 1", text)
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            #expect(error?.localizedDescription.contains("no property “\(text)”") == true)
            request.predicate = nil
            request.sortDescriptors = [NSSortDescriptor(key: text, ascending: true)]
            #expect(throws: NSError.self) { try context.fetch(request) }
        }
    }

    @Test("are quoted as the names of properties")
    func names() throws {
        let folder = try TestFolder()
        let model = NSManagedObjectModel()
        let names = ["order", "select", "a b", "x\"y", "semi;colon", "quo'te"]
        model.entities = [Library.entity("Group", names.map { Library.attribute($0, .stringAttributeType) })]
        let context = try Library.stored(at: folder.file("names.sqlite"), model).viewContext
        context.make("Group", Dictionary(uniqueKeysWithValues: names.map { ($0, $0 as Any?) }))
        try context.save()
        for name in names {
            let predicate = NSPredicate(format: "%K == %@ AND %K BEGINSWITH %@", name, name, name, name)
            #expect(try context.all("Group", predicate, by: name).count == 1, "\(name)")
        }
    }
}
