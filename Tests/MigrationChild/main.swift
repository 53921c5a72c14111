import CoreData
import Foundation

/// What a migration test runs in a process of its own: `MigrationChild make|lightweight|mapped|portions|progressive
/// STORE`, and with an XML store `make-document|document STORE`. `covers STORE` saves books with large covers until it
/// is killed.
///
/// Ends with 1 and the error's text when the migration failed.
func run(_ arguments: [String]) throws {
    guard arguments.count == 2 else { throw CocoaError(.featureUnsupported) }
    let url = URL(fileURLWithPath: arguments[1])
    switch arguments[0] {
    case "make": try Bookshelf.makeStore(at: url)
    case "lightweight":
        let options = Bookshelf.options.merging([
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]) { $1 }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshelf.model(2))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        try coordinator.remove(store)
    case "mapped":
        try StoreMigration(at: url, to: Bookshelf.model(2), mapping: Bookshelf.mapping(from: 1)).run()
    case "portions":
        var migration = try StoreMigration(at: url, to: Bookshelf.model(2), mapping: Bookshelf.mapping(from: 1))
        migration.portion = 3
        try migration.run()
    case "progressive":
        let migration = try ProgressiveMigration(
            at: url, to: Bookshelf.model(4), over: Bookshelf.versions(), options: Bookshelf.options)
        try migration.run()
    case "covers":
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshelf.model(1))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            var books: [NSManagedObject] = []
            while true {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("Book \(books.count)", forKey: "title")
                book.setValue(Data(count: 150_000), forKey: "cover")
                books.append(book)
                if books.count > 2 { books[books.count - 2].setValue(Data(count: 160_000), forKey: "cover") }
                if books.count > 5 { context.delete(books.removeFirst()) }
                try context.save()
            }
        }
    case "make-document": try Bookshelf.makeStore(at: url, type: NSXMLStoreType)
    case "document":
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshelf.model(2))
        let store = try coordinator.addPersistentStore(
            ofType: NSXMLStoreType, configurationName: nil, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                PippinProgressiveMigrationOptionKey: try Bookshelf.versions(),
            ])
        try coordinator.remove(store)
    default: throw CocoaError(.featureUnsupported)
    }
}

do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
    FileHandle.standardError.write(Data("\((error as NSError).localizedDescription)\n".utf8))
    exit(1)
}
