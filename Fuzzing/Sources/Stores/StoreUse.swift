@testable import CoreData
import Foundation
import SQLiteEngine

/// Everything that a program may do with a store that it is given. Each part ends with values or with an error.
struct Use {
    let url: URL
    let type: String
    /// Whether what is saved must be found again: nobody left a trigger, or another table, that changes it.
    let mustKeep: Bool
    let before = Sample.model(1)
    let after = Sample.model(2)

    /// Errors are what is hoped for; to describe one must end as well.
    func attempt(_ body: () throws -> Void) {
        do { try body() } catch {
            let error = error as NSError
            if Self.tells { print("   ", error.domain, error.code, error.localizedDescription) }
            if error.localizedDescription.isEmpty { fatalError("an error without a text: \(error)") }
        }
    }

    /// Whether to print what is done, and the errors: to look at a finding.
    static let tells = ProcessInfo.processInfo.environment["FUZZ_TELLS"] != nil

    var isSQLite: Bool { type == NSSQLiteStoreType }

    func all() {
        attempt(readAlone)
        for options in [[NSReadOnlyPersistentStoreOption: true], nil, Sample.options] {
            with(options) { context in
                read(context)
                attempt { try history(context) }
            }
        }
        with(Sample.options) { context in
            resultsController(context)
            attempt { try pin(context) }
            attempt {
                try save(context, insert)
                if mustKeep { attempt { try findInserted(context) } }
            }
            for work in [update, reorder, remove] {
                attempt { try save(context, work) }
            }
            batches(context)
            attempt { try history(context) }
        }
    }

    /// What needs no model.
    private func readAlone() throws {
        attempt {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: type, at: url, options: nil)
            _ = before.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
            _ = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: before)
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
            _ = coordinator.metadata(for: store)
            try coordinator.remove(store)
        }
        guard isSQLite else { return }
        if let model = try StoreFile.open(url, mode: .readWrite).cachedModel() {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.performAndWait { read(context) }
            try coordinator.remove(store)
        }
    }

    private func with(_ options: [AnyHashable: Any]?, _ body: (NSManagedObjectContext) -> Void) {
        attempt {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: before)
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: url, options: options)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.performAndWait { body(context) }
            try coordinator.remove(store)
        }
    }

    // MARK: Reading

    private static let predicates = [
        "price > 1", "title CONTAINS[cd] 'T'", "owner.name == 'Ann'", "ANY tags.name == 'red'", "parts.@count > 1",
        "count == total", "wealth < 3", "made > now()", "token == nil", "link != nil",
        "SUBQUERY(parts, $p, $p.name != nil).@count > 0",
        "ratio * 2 > count / price", "title MATCHES '.*e.*'", "SELF.owner == nil", "total + 9223372036854775807 > 0",
    ]

    private func read(_ context: NSManagedObjectContext) {
        for entity in ["Item", "Comic", "Part", "Tag", "Owner"] {
            attempt {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.fetchBatchSize = entity == "Part" ? 2 : 0
                for object in try context.fetch(request) { try touch(object, 0) }
            }
            attempt {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.includesPropertyValues = false
                for object in try context.fetch(request) { try touch(object, 1) }
            }
            attempt {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
                request.resultType = .managedObjectIDResultType
                for identifier in try context.fetch(request) {
                    attempt { _ = try context.existingObject(with: identifier) }
                    _ = context.persistentStoreCoordinator?.managedObjectID(
                        forURIRepresentation: identifier.uriRepresentation())
                }
            }
            attempt {
                _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
            }
        }
        for format in Self.predicates {
            attempt {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: format)
                request.sortDescriptors = [
                    NSSortDescriptor(key: "made", ascending: false),
                    NSSortDescriptor(key: "owner.name", ascending: true),
                    NSSortDescriptor(key: "title", ascending: true),
                ]
                let found = try context.fetch(request)
                if let predicate = request.predicate { _ = found.filter { predicate.evaluate(with: $0) } }
            }
        }
        dictionaries(context)
        context.reset()
    }

    func touch(_ object: NSManagedObject, _ depth: Int) throws {
        for (name, attribute) in object.entity.attributesByName {
            let value = object.value(forKey: name)
            if let date = value as? Date { _ = date.hashValue }
            if let number = value as? NSNumber { _ = number.description }
            if attribute.attributeType == .decimalAttributeType { _ = (value as? NSDecimalNumber)?.doubleValue }
        }
        for (name, relationship) in object.entity.relationshipsByName {
            let value = object.value(forKey: name)
            guard depth == 0 else { continue }
            if !relationship.isToMany, let other = value as? NSManagedObject { try touch(other, 1) }
            for case let other as NSManagedObject in (value as? NSSet)?.allObjects ?? [] { try touch(other, 1) }
            for case let other as NSManagedObject in (value as? NSOrderedSet)?.array ?? [] { try touch(other, 1) }
        }
        _ = object.description
        _ = object.committedValues(forKeys: nil)
    }

    private func dictionaries(_ context: NSManagedObjectContext) {
        func request(_ properties: [Any], _ change: (NSFetchRequest<NSDictionary>) -> Void = { _ in }) {
            attempt {
                let request = NSFetchRequest<NSDictionary>(entityName: "Item")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = properties
                change(request)
                for dictionary in try context.fetch(request) { _ = dictionary.description }
            }
        }
        let attributes = before.entitiesByName["Item"]?.attributesByName.keys.sorted() ?? []
        request(attributes.filter { $0 != "place" } + ["owner", "owner.name", "objectID"])
        for function in ["sum:", "max:", "average:", "count:"] {
            for key in ["count", "price", "wealth", "made", "total"] {
                let column = NSExpressionDescription()
                column.name = "value"
                column.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
                column.expressionResultType = key == "total" ? .integer16AttributeType : .decimalAttributeType
                request([column])
                request([column, "owner"]) { $0.propertiesToGroupBy = ["owner"] }
            }
        }
        request(["title"]) { $0.returnsDistinctResults = true }
    }

    private func resultsController(_ context: NSManagedObjectContext) {
        attempt {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "owner.name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "owner.name", cacheName: nil)
            try controller.performFetch()
            for section in controller.sections ?? [] { _ = section.name + "\(section.numberOfObjects)" }
        }
    }

    private func pin(_ context: NSManagedObjectContext) throws {
        try context.setQueryGenerationFrom(.current)
        attempt { _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) }
        try context.setQueryGenerationFrom(nil)
    }

    private func history(_ context: NSManagedObjectContext) throws {
        guard isSQLite else { return }
        _ = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
        for request in [
            NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?),
            .fetchHistory(after: Date(timeIntervalSinceReferenceDate: 100)),
        ] {
            attempt {
                let result = try context.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    _ = (transaction.timestamp, transaction.author, transaction.token)
                    for change in transaction.changes ?? [] {
                        _ = (change.tombstone, change.updatedProperties, change.changedObjectID.uriRepresentation())
                    }
                    context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                    attempt {
                        _ = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: transaction.token))
                    }
                }
            }
        }
        attempt {
            _ = try context.execute(
                NSPersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceReferenceDate: 5)))
        }
    }
}
