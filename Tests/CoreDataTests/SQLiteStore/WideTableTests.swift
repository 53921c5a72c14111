import CoreData
import Foundation
import TestSupport
import Testing

@Suite("What SQLite has no room for")
struct WideTableTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func coordinator(_ entity: NSEntityDescription) -> NSPersistentStoreCoordinator {
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return NSPersistentStoreCoordinator(managedObjectModel: model)
    }

    @Test("An entity with more attributes than a table has columns is refused, with what to do")
    func columns() throws {
        let wide = Library.entity("Wide", (0..<2001).map { Library.attribute("a\($0)", .integer16AttributeType) })
        let error = #expect(throws: NSError.self) {
            try coordinator(wide).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        }
        #expect(error?.localizedDescription.contains("at most 2,000 columns (too many columns on ZWIDE)") == true)
        #expect(error?.localizedRecoverySuggestion?.contains("Subentities share the table") == true)
    }

    @Test("A sum of more than 64 bits is an error that says what to do")
    func sum() throws {
        let coordinator = coordinator(Library.entity("Count", [Library.attribute("many", .integer64AttributeType)]))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<2 { context.make("Count", ["many": Int64.max]) }
            try context.save()
            let column = NSExpressionDescription()
            (column.name, column.expressionResultType) = ("sum", .integer64AttributeType)
            column.expression = CoreData.NSExpression(format: "sum:(many)")
            let request = NSFetchRequest<NSDictionary>(entityName: "Count")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column]
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            #expect(error?.localizedRecoverySuggestion?.contains("Add fewer objects up") == true)
        }
    }
}
