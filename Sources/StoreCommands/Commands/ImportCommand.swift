import CoreData
import StoreEngine
import StoreReading

/// `pippin import`: inserts an object for each line or element of a file, or none if one of them fails.
package enum ImportCommand {
    /// - Parameters:
    ///   - options: what to import.
    ///   - store: the store that the options name, open for writing.
    ///   - progress: shows the progress.
    ///   - output: receives the number of inserted objects, as text.
    /// - Throws: `CommandError` with the line or element that cannot be imported, and the errors of the store. Nothing
    ///   is inserted then.
    package static func run(
        _ options: ImportOptions, in store: DirectStore, _ progress: ProgressLine, _ output: (String) throws -> Void
    ) throws {
        defer { progress.end() }
        let entity = try store.entity(named: options.entity)
        guard !entity.isAbstract else {
            throw CommandError("“\(entity.name)” is abstract; name the subentity of which the file has objects")
        }
        let file = ImportFile(options.file, options.format, isVerbatim: options.isVerbatim)
        let values = ImportValues(entity: entity, store: store, file: file)
        let count: Int
        do {
            count =
                try ImportBatch.suits(entity, store)
                ? ImportBatch.run(values, progress) : throughContext(values, progress)
        } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
            throw CommandError(duplicates(of: error, entity))
        }
        progress.end()
        try output("\(TextTools.count(count, "object")) of “\(entity.name)” added\n")
        for (name, count) in values.subentities.counts.sorted(by: { $0.key < $1.key }) {
            try output(
                "\(count) of them \(count == 1 ? "is" : "are") of “\(TextTools.inOneLine(name))” in the file, and of “\(entity.name)” now\n"
            )
        }
    }

    /// The error for values that are not unique. The store's own advice is for programs; this one is for people who
    /// type a command.
    private static func duplicates(of error: NSError, _ entity: EntityLayout) -> String {
        let reason = (error.userInfo[NSSQLiteErrorDomain] == nil ? nil : error.localizedDescription)
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: " and ") }.joined(separator: ", or ")
        return (reason ?? "There would be two objects with the same unique values; nothing was changed.")
            + " An object of the file has the same \(constraints) as another one of it, or as one of the store. "
            + "Take it out of the file, or delete the one in the store."
    }

    /// Imports through a context, which keeps the inverses of relationships consistent, if they are ordered or to-one.
    /// All objects are in memory at once.
    private static func throughContext(_ values: ImportValues, _ progress: ProgressLine) throws -> Int {
        let (store, entity) = (values.store, values.entity)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        context.undoManager = nil
        context.transactionAuthor = ImportBatch.author
        return try context.performAndWait { () throws -> Int in
            var count = 0
            var objects = try values.file.objects()
            while let (number, members) = try objects.next() {
                let place = values.place(number)
                values.subentities.note(members)
                let object = NSManagedObject(entity: entity.description, insertInto: context)
                for (name, value) in members where name != "objectID" {
                    switch try values.read(value, name, place) {
                    case .nothing: break
                    case .none: object.setValue(nil, forKey: name)
                    case .value(let value, _): object.setValue(value, forKey: name)
                    case .object(let identifier, let slot):
                        guard let other = try? context.existingObject(with: identifier) else {
                            throw values.noObject(identifier.uriRepresentation().absoluteString, slot, place)
                        }
                        object.setValue(other, forKey: name)
                    }
                }
                count += 1
                try EndingSignals.check()
                progress.say("\(TextTools.count(count, "object")) read", objects.fraction)
            }
            progress.say("saving \(TextTools.count(count, "object")) …")
            try context.save()
            return count
        }
    }
}
