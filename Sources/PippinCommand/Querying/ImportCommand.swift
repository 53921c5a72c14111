import CoreData
import StoreReading

/// `pippin import`: an object for each line or element of a file, all of them or none.
enum ImportCommand {
    static func run(_ options: ImportOptions, _ progress: Progress, _ output: (String) throws -> Void) throws {
        defer { progress.end() }
        var opening = DirectStore.Opening(path: options.store, modelPath: options.model)
        opening.isWritable = true
        let store = try DirectStore(opening)
        defer { store.close() }
        guard let entity = store.layout.entityByName[options.entity] else {
            throw CommandError(
                "“\(options.store)” has no entity “\(options.entity)”; it has \(store.layout.entities.map(\.name).joined(separator: ", "))"
            )
        }
        guard !entity.isAbstract else {
            throw CommandError("“\(entity.name)” is abstract: there can be no objects of it")
        }
        let file = try ImportFile(options.file, options.format)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        context.undoManager = nil
        context.transactionAuthor = "pippin import"
        let count = try context.performAndWait { () throws -> Int in
            var count = 0
            try file.forEach { number, members in
                let object = NSManagedObject(entity: entity.description, insertInto: context)
                for (name, value) in members where name != "objectID" {
                    try set(value, name, of: object, entity, "\(file.name), \(file.place(number))", store)
                }
                count += 1
                try EndingSignals.check()
                progress.say("\(TextTools.count(count, "object")) read")
            }
            progress.say("saving \(TextTools.count(count, "object")) …")
            try context.save()
            return count
        }
        progress.end()
        try output("\(TextTools.count(count, "object")) of “\(entity.name)” added\n")
    }

    private static func set(
        _ value: ImportFile.Value, _ name: String, of object: NSManagedObject, _ entity: EntityLayout, _ place: String,
        _ store: DirectStore
    ) throws {
        guard let index = entity.propertyByName[name] else {
            let near = TextProblem.near(name, among: entity.propertyByName.keys).map { "“\($0)”" }.joined(
                separator: " or ")
            throw CommandError(
                "\(place): “\(entity.name)” has no property “\(name)”" + (near.isEmpty ? "" : "; \(near) may be meant"))
        }
        if case .none = value { return object.setValue(nil, forKey: name) }
        guard case .slot(let slot) = index, case .text(let text) = value else {
            throw CommandError("\(place): “\(name)” is no attribute and no to-one relationship, and has to be left out")
        }
        guard let attribute = entity.slots[slot].attribute else {
            guard let identifier = store.coordinator.managedObjectID(for: text),
                let context = object.managedObjectContext,
                let other = try? context.existingObject(with: identifier)
            else { throw CommandError("\(place): “\(name)” is “\(text)”, which is no object of the store") }
            return object.setValue(other, forKey: name)
        }
        guard attribute.derivation == nil else { return }
        do { object.setValue(try ValueText.value(text, attribute.type), forKey: name) } catch {
            throw CommandError(
                "\(place): “\(name)” needs \(error.expected), and is “\(TextTools.inOneLine(String(text.prefix(60))))”")
        }
    }
}
