import CoreData
import StoreEngine

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
        let entity = try target(of: options, in: store)
        let file = ImportFile(options.file, options.format, isVerbatim: options.isVerbatim)
        let values = ImportValues(entity: entity, store: store, file: file, options: options)
        let counts: ImportCounts
        do {
            counts =
                try ImportBatch.suits(entity, store)
                ? ImportBatch.run(values, progress, isUpdate: options.isUpdate)
                : throughContext(values, progress, isUpdate: options.isUpdate)
        } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
            throw CommandError(duplicates(of: error, entity))
        }
        progress.end()
        let changed = counts.changed > 0 ? ", \(TextTools.grouped(Int64(counts.changed))) changed" : ""
        try output("\(TextTools.count(counts.added, "object")) of “\(entity.name)” added\(changed)\n")
        for (name, count) in values.subentities.counts.sorted(by: { $0.key < $1.key }) {
            try output(
                "\(count) of them \(count == 1 ? "is" : "are") of “\(TextTools.inOneLine(name))” in the file, and of “\(entity.name)” now\n"
            )
        }
    }

    /// What an import would do: its objects are read, checked and looked up, and nothing is written.
    package struct Rehearsal {
        /// How many objects would be added and changed.
        package var (added, changed) = (0, 0)
        /// The values of the first objects as the file has them, by the names there.
        package var sample: [[(name: String, text: String)]] = []
        fileprivate static let most = 20
    }

    /// - Parameters:
    ///   - options: what to import.
    ///   - store: the store.
    /// - Returns: what the import would do.
    /// - Throws: what the import would throw, with the first line or element that cannot be imported.
    package static func rehearse(_ options: ImportOptions, in store: DirectStore) throws -> Rehearsal {
        let entity = try target(of: options, in: store)
        let file = ImportFile(options.file, options.format, isVerbatim: options.isVerbatim)
        let values = ImportValues(entity: entity, store: store, file: file, options: options)
        return try store.asking { engine in
            var rehearsal = Rehearsal()
            var objects = try file.objects()
            var filler = RowFiller(values, engine, isUpdate: options.isUpdate)
            var own: Set<String> = []
            while let (number, members) = try objects.next() {
                var row = BatchInsertPlan(entity: entity).emptyRow
                try filler.read(members, number, into: &row)
                try filler.validate(row, number)
                if rehearsal.sample.count < Rehearsal.most {
                    rehearsal.sample.append(members.map { ($0.0, $0.1.text) })
                }
                let isKnown = try filler.known(row) != nil
                let isRepeated = filler.repeats(row, in: &own)
                guard options.isUpdate || !(isKnown || isRepeated) else {
                    throw CommandError(
                        "\(values.place(number)): "
                            + (isKnown
                                ? "an object of the store has the same unique values; import with changes of known objects, or take the line out"
                                : "an object before it in the file has the same unique values"))
                }
                if isKnown || isRepeated { rehearsal.changed += 1 } else { rehearsal.added += 1 }
                try EndingSignals.check()
            }
            try values.columns.checkNames()
            return rehearsal
        }
    }

    /// The entity that the objects of a file are of.
    private static func target(of options: ImportOptions, in store: DirectStore) throws -> EntityLayout {
        let entity = try store.entity(named: options.entity)
        guard !entity.isAbstract else {
            throw CommandError("“\(entity.name)” is abstract; name the subentity of which the file has objects")
        }
        guard !options.isUpdate || !entity.uniquenessConstraints.isEmpty else {
            throw CommandError(
                "“\(entity.name)” has no unique values, by which --update would know its objects again; without "
                    + "--update the objects of the file are added")
        }
        return entity
    }

    /// The error for values that are not unique. The store's own advice is for programs; this one is for people who
    /// type a command.
    private static func duplicates(of error: NSError, _ entity: EntityLayout) -> String {
        let reason = (error.userInfo[NSSQLiteErrorDomain] == nil ? nil : error.localizedDescription)
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: " and ") }.joined(separator: ", or ")
        return (reason ?? "There would be two objects with the same unique values; nothing was changed.")
            + " An object of the file has the same \(constraints) as another one of it, or as one of the store. "
            + "Take it out of the file, or delete the one in the store. --update changes the one in the store."
    }

    /// Imports through a context, which keeps the inverses of relationships consistent, if they are ordered or to-one.
    /// All objects are in memory at once.
    private static func throughContext(
        _ values: ImportValues, _ progress: ProgressLine, isUpdate: Bool
    ) throws -> ImportCounts {
        let (store, entity) = (values.store, values.entity)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        context.undoManager = nil
        context.transactionAuthor = ImportBatch.author
        return try context.performAndWait { () throws -> ImportCounts in
            var counts = ImportCounts()
            var objects = try values.file.objects()
            var filler = try store.asking { RowFiller(values, $0, isUpdate: isUpdate) }
            let empty = BatchInsertPlan(entity: entity).emptyRow
            while let (number, members) = try objects.next() {
                var row = empty
                let known = try store.asking { engine in
                    try filler.read(members, number, into: &row)
                    return isUpdate ? try filler.known(row) : nil
                }
                values.subentities.note(members)
                let object =
                    try known.map { try context.existingObject(with: $0) }
                    ?? NSManagedObject(entity: entity.description, insertInto: context)
                for slot in row.isGiven.indices where row.isGiven[slot] {
                    let (name, value) = (entity.slots[slot].name, row.values[slot])
                    switch (value, entity.slots[slot].attribute) {
                    case (.identifier(let identifier), _):
                        object.setValue(try context.existingObject(with: identifier), forKey: name)
                    case (_, let attribute?): object.setValue(value.objectValue(for: attribute), forKey: name)
                    default: object.setValue(nil, forKey: name)
                    }
                }
                if known == nil { counts.added += 1 } else { counts.changed += 1 }
                try EndingSignals.check()
                progress.say("\(TextTools.count(counts.added + counts.changed, "object")) read", objects.fraction)
            }
            try values.columns.checkNames()
            progress.say("saving \(TextTools.count(counts.added + counts.changed, "object")) …")
            try context.save()
            return counts
        }
    }
}

/// How many objects an import added and changed.
struct ImportCounts {
    var added = 0
    var changed = 0
}

/// An import in one transaction of the store: rows are written as they are read, so that memory does not grow with
/// their number.
enum ImportBatch {
    /// The author of an import's transaction in the history.
    static let author = "pippin import"

    /// Whether an object can be imported as a row alone: the other sides of its relationships have neither an order nor
    /// a reference of their own, and its to-many relationships have no rules to check.
    static func suits(_ entity: EntityLayout, _ store: DirectStore) throws -> Bool {
        guard try store.asking({ $0.batches != nil }), entity.validatedToManys.isEmpty else { return false }
        return entity.toOnes.allSatisfy { $0.inverse.map { $0.isToMany && !$0.isOrdered } ?? true }
    }

    /// - Throws: `CommandError` that names the place of what is wrong, and the errors of the store; then nothing was
    ///   written.
    static func run(_ values: ImportValues, _ progress: ProgressLine, isUpdate: Bool) throws -> ImportCounts {
        try values.store.asking { engine in
            guard let batches = engine.batches else { return ImportCounts() }
            var plan = BatchInsertPlan(entity: values.entity)
            plan.origin.author = author
            if isUpdate { plan.conflicts = .replace }
            var objects = try values.file.objects()
            var filler = RowFiller(values, engine, isUpdate: isUpdate)
            var read = 0
            let everything = FetchPlan(entity: values.entity)
            let before = isUpdate ? try engine.fetchCount(everything) : 0
            let written = try batches.insertBatch(plan) { row in
                guard let (number, members) = try objects.next() else {
                    try values.columns.checkNames()
                    return false
                }
                values.subentities.note(members)
                try filler.read(members, number, into: &row)
                try filler.validate(row, number)
                read += 1
                try EndingSignals.check()
                progress.say("\(TextTools.count(read, "object")) written", objects.fraction)
                return true
            }.count
            guard isUpdate else { return ImportCounts(added: written) }
            let added = try engine.fetchCount(everything) - before
            return ImportCounts(added: added, changed: written - added)
        }
    }
}

/// Fills a row with the values of an object in a file, and checks them by the rules of the model.
private struct RowFiller {
    private let values: ImportValues
    private let engine: any StoreEngine
    private let isUpdate: Bool
    /// An object of the entity without a context, which validates values.
    private let example: NSManagedObject
    /// The slots whose values have more rules than that there is one.
    private let restricted: Set<Int>
    private var finder: ObjectFinder

    init(_ values: ImportValues, _ engine: any StoreEngine, isUpdate: Bool) {
        (self.values, self.engine, self.isUpdate) = (values, engine, isUpdate)
        example = NSManagedObject(entity: values.entity.description, insertInto: nil)
        finder = ObjectFinder(values)
        let slots = values.entity.slots
        restricted = Set(
            values.entity.validatedSlots.filter {
                slots[$0].attribute != nil && !slots[$0].description.validationPredicates.isEmpty
            })
    }

    /// Reads the values of an object, and finds the objects that its relationships name.
    mutating func read(
        _ members: [(String, ImportFile.Value)], _ number: Int, into row: inout BatchRow
    ) throws {
        if row.isGiven.isEmpty { row.isGiven = ContiguousArray(repeating: false, count: row.values.count) }
        for (name, value) in members where name != "objectID" {
            switch try values.read(value, name, values.place(number)) {
            case .nothing: break
            case .none(let slot): set(.null, slot, in: &row)
            case .value(let value, let slot):
                if let attribute = values.entity.slots[slot].attribute {
                    set(StoredValue(value, for: attribute), slot, in: &row)
                }
            case .object(let identifier, let slot):
                try finder.check(identifier, slot, engine, values.place(number))
                set(.identifier(identifier), slot, in: &row)
            case .objectWith(let value, let text, let key, let slot):
                let identifier = try finder.object(with: value, text, at: key, slot, engine, values.place(number))
                set(.identifier(identifier), slot, in: &row)
            }
        }
    }

    private func set(_ value: StoredValue, _ slot: Int, in row: inout BatchRow) {
        row.values[slot] = value
        row.isGiven[slot] = true
    }

    /// The object of the store that a row changes; nil for a new one.
    func known(_ row: BatchRow) throws -> NSManagedObjectID? { try finder.object(like: row, engine) }

    /// Whether an object before had the unique values of a row; notes them.
    func repeats(_ row: BatchRow, in seen: inout Set<String>) -> Bool {
        var isRepeated = false
        for constraint in values.entity.uniquenessConstraints {
            let slots = constraint.compactMap { values.entity.slotIndex(forName: $0) }
            guard slots.count == constraint.count, !slots.contains(where: { row.values[$0].isNull }) else { continue }
            let texts = slots.map { "\($0)=\(row.values[$0])" }
            if !seen.insert(texts.joined(separator: "\u{0}")).inserted { isRepeated = true }
        }
        return isRepeated
    }

    /// - Throws: `CommandError` for a value that the model does not allow. An object that is changed keeps the values
    ///   that the file does not have.
    func validate(_ row: BatchRow, _ number: Int) throws {
        for index in values.entity.validatedSlots {
            let slot = values.entity.slots[index]
            let isMissing = row.values[index].isNull && !slot.isOptional
            guard isMissing || restricted.contains(index), !slot.isTransient, slot.attribute?.derivation == nil else {
                continue
            }
            if isMissing, isUpdate, !row.isGiven[index], try known(row) != nil { continue }
            do {
                var value = slot.attribute.flatMap { row.values[index].objectValue(for: $0) } as AnyObject?
                try example.validateValue(&value, forKey: slot.name)
            } catch {
                throw CommandError("\(values.place(number)): \(error.localizedDescription)")
            }
        }
    }
}
