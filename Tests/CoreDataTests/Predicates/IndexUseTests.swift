import CoreData
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@MainActor @Suite("A fetch by an indexed attribute")
struct IndexUseTests {
    private func track() -> NSManagedObjectModel {
        let title = Library.attribute("title", .stringAttributeType)
        let year = Library.attribute("year", .integer32AttributeType)
        let added = Library.attribute("added", .dateAttributeType)
        let entity = Library.entity("Track", [title, year, added])
        entity.indexes = [title, year, added].map { attribute in
            let element = NSFetchIndexElementDescription(property: attribute, collationType: .binary)
            return NSFetchIndexDescription(name: "by\(attribute.name)", elements: [element])
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    /// Tracks of two kinds, each with an indexed label.
    private func labelled() -> NSManagedObjectModel {
        let model = track()
        model.entities[0].subentities = ["Song", "Talk"].map { name in
            let label = Library.attribute("label", .stringAttributeType)
            let entity = Library.entity(name, [label])
            let element = NSFetchIndexElementDescription(property: label, collationType: .binary)
            entity.indexes = [NSFetchIndexDescription(name: "byLabel", elements: [element])]
            return entity
        }
        model.entities += model.entities[0].subentities
        return model
    }

    /// What SQLite says of how it will run a fetch.
    private func plan(_ predicate: NSPredicate, _ model: NSManagedObjectModel) throws -> String {
        let folder = try TestFolder()
        let url = folder.file("tracks.sqlite")
        let context = try Library.stored(at: url, model).viewContext
        context.make("Track", ["title": "a"])
        try context.save()
        let schema = SQLSchema(layout: try model.compiledLayout())
        let entity = try #require(schema.layout.entityByName["Track"])
        let prepared = try preparedPredicate(of: predicate)
        let fetch = try FetchSQL(schema: schema).statement(
            FetchPlan(entity: entity), result: .identifiers, predicate: prepared.skeleton,
            arguments: prepared.arguments)
        return try plainSQL("EXPLAIN QUERY PLAN \(fetch.sql.sqlite.text)", in: url).joined(separator: "; ")
    }

    @Test(
        "searches the index, not the table",
        arguments: [
            ("title == 'a'", "bytitle (ZTITLE=?)"), ("title BEGINSWITH 'a'", "bytitle (ZTITLE>? AND ZTITLE<?)"),
            ("title IN {'a', 'b'}", "bytitle (ZTITLE=?)"), ("title == nil", "bytitle (ZTITLE=?)"),
            ("year > 1990", "byyear (ZYEAR>?)"), ("year >= 1990 AND year < 2000", "byyear (ZYEAR>? AND ZYEAR<?)"),
            ("year BETWEEN {1990, 2000}", "byyear (ZYEAR>? AND ZYEAR<?)"),
            ("added < CAST(3, 'NSDate')", "byadded (ZADDED<?)"),
        ])
    func searches(format: String, expected: String) throws {
        let plan = try plan(NSPredicate(format: format), track())
        #expect(plan.contains("SEARCH t0 USING"))
        #expect(plan.contains("INDEX Z_Track_\(expected)"))
    }

    @Test(
        "searches the indexes of all entities that declare it",
        arguments: ["label == 'a'", "'a' == label", "label IN {'a', 'b'}", "label > 'a'", "label BEGINSWITH 'a'"])
    func siblings(format: String) throws {
        let plan = try plan(NSPredicate(format: format), labelled())
        #expect(plan.contains("MULTI-INDEX OR"))
        #expect(plan.contains("Z_Song_byLabel") && plan.contains("Z_Talk_byLabel"))
    }

    @Test("does not where the comparison is not the index's, or the predicate says noindex")
    func scans() throws {
        #expect(try plan(NSPredicate(format: "noindex(year) == 1990"), track()).contains("SCAN t0"))
    }
}
