import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

/// Renames, doubles, swaps and drops what a store has, and does with it what programs do: values or errors, and no end
/// of the program.
@Suite("Stores whose tables and columns somebody changed", .serialized)
struct StructuralDamageTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func fill() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try insert(into: context) }
        try coordinator.remove(store)
    }

    private func insert(into context: NSManagedObjectContext) throws {
        for number in 0..<3 {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("author \(number)", forKey: "name")
            let book = NSEntityDescription.insertNewObject(forEntityName: number == 1 ? "Comic" : "Book", into: context)
            book.setValue("title \(number)", forKey: "title")
            book.setValue(author, forKey: "author")
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("tag \(number)", forKey: "name")
            book.setValue(Set([tag]), forKey: "tags")
            let chapters = ["a", "b"].map { title in
                let chapter = NSEntityDescription.insertNewObject(forEntityName: "Chapter", into: context)
                chapter.setValue(title, forKey: "title")
                return chapter
            }
            book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
        }
        try context.save()
    }

    private func damage(_ random: inout SplitMix) throws -> [String] {
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        var done: [String] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let tables = try connection.tableNames().filter { !StoreTables.isReserved($0) }.sorted()
            guard let table = tables.randomElement(using: &random), let other = tables.randomElement(using: &random)
            else { continue }
            let columns = try connection.columnNames(ofTable: table).sorted()
            guard let first = columns.randomElement(using: &random), let second = columns.randomElement(using: &random)
            else { continue }
            let names = ["\(first)1", "\(first.prefix(5))", first.lowercased(), "Z_FOK_X", "Z7X", "x'\"x"]
            let name = (names.randomElement(using: &random) ?? "x").replacingOccurrences(of: "\"", with: "\"\"")
            let rename = "ALTER TABLE \"\(table)\" RENAME COLUMN"
            let statements =
                [
                    ["\(rename) \"\(first)\" TO \"\(name)\""],
                    [
                        "\(rename) \"\(first)\" TO swapped", "\(rename) \"\(second)\" TO \"\(first)\"",
                        "\(rename) swapped TO \"\(second)\"",
                    ],
                    ["ALTER TABLE \"\(table)\" DROP COLUMN \"\(first)\""],
                    ["ALTER TABLE \"\(table)\" ADD COLUMN \"\(name)\" VARCHAR"],
                    ["ALTER TABLE \"\(table)\" RENAME TO \"\(table)1\""],
                    [
                        "ALTER TABLE \"\(table)\" RENAME TO swapped", "ALTER TABLE \"\(other)\" RENAME TO \"\(table)\"",
                        "ALTER TABLE swapped RENAME TO \"\(other)\"",
                    ],
                    ["CREATE TABLE \"\(table)1\" AS SELECT * FROM \"\(table)\""],
                    ["DROP TABLE \"\(table)\""],
                ].randomElement(using: &random) ?? []
            for statement in statements where (try? connection.execute(statement)) != nil { done.append(statement) }
        }
        return done
    }

    /// What works in order, and what does not by its error, which must have a text.
    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch { #expect(!(error as NSError).localizedDescription.isEmpty) }
    }

    private func use(_ context: NSManagedObjectContext) {
        for entity in ["Author", "Book", "Tag", "Chapter", "Shelf"] {
            for format in [
                "TRUEPREDICATE", "title == 'x'", "name != nil", "ANY tags.name == 'tag 1'", "author.name == 'author 1'",
            ] {
                attempt {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                    guard
                        (try? context.persistentStoreCoordinator?.managedObjectModel.compiledLayout().entityByName[
                            entity])
                            != nil
                    else { return }
                    request.predicate = NSPredicate(format: format)
                    for object in try context.fetch(request) {
                        for name in object.entity.propertiesByName.keys.sorted() { _ = object.value(forKey: name) }
                    }
                }
            }
            attempt {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                for object in try context.fetch(request) {
                    if object.entity.attributesByName["title"] != nil { object.setValue("new", forKey: "title") }
                    if object.entity.relationshipsByName["chapters"] != nil {
                        object.setValue(NSOrderedSet(), forKey: "chapters")
                    }
                }
                try context.save()
            }
            context.rollback()
            attempt {
                let new = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                if new.entity.attributesByName["name"] != nil { new.setValue("new", forKey: "name") }
                try context.save()
            }
            context.rollback()
            attempt {
                for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).prefix(1) {
                    context.delete(object)
                }
                try context.save()
            }
            context.rollback()
            attempt { _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: entity))) }
        }
    }

    @Test("Everything is a value or an error", arguments: 0..<40)
    func everything(seed: UInt64) throws {
        try fill()
        var random = SplitMix(state: seed)
        let done = try damage(&random)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        do {
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        } catch {
            Issue.record("\(done.joined(separator: "; ")) keeps the whole store closed: \(error)")
            return
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait { use(context) }
    }
}
