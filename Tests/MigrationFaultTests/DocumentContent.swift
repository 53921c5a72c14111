import CoreData
import Foundation

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationChild
@testable import SQLGeneration
@testable import SQLiteEngine

/// Everything that is in an XML store, as text: whole objects with what their relationships lead to.
enum DocumentContent {
    /// The lines of a store of the first or the second version.
    static func rows(of store: URL) throws -> [String] {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSXMLStoreType, at: store)
        let version = (1...2).first {
            Bookshelf.model($0).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshelf.model(version ?? 1))
        try coordinator.addPersistentStore(
            ofType: NSXMLStoreType, configurationName: nil, at: store, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            var lines = ["version \(version ?? 0)", "uuid \(metadata[NSStoreUUIDKey] ?? "")"]
            for entity in coordinator.managedObjectModel.entities {
                let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
                lines += objects.map { line(of: $0) }.sorted()
            }
            return lines
        }
    }

    private static func line(of object: NSManagedObject) -> String {
        let entity = object.entity
        let values = entity.attributesByName.keys.sorted().map { "\($0)=\(object.value(forKey: $0) ?? "-")" }
        let related = entity.relationshipsByName.keys.sorted().map { name -> String in
            let value = object.value(forKey: name)
            let ordered = (value as? NSOrderedSet)?.array as? [NSManagedObject]
            let others =
                ordered ?? (value as? Set<NSManagedObject>).map(Array.init)
                ?? [value as? NSManagedObject].compactMap(\.self)
            let names = others.map(Self.name)
            return "\(name)=\((ordered == nil ? names.sorted() : names).joined(separator: ","))"
        }
        return "\(entity.name ?? "") \((values + related).joined(separator: " "))"
    }

    private static func name(of object: NSManagedObject) -> String {
        let key = ["title", "name", "label"].first { object.entity.attributesByName[$0] != nil }
        return key.flatMap { object.value(forKey: $0) as? String } ?? ""
    }
}
