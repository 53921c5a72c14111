import CoreData
import StoreEngine
import StoreReading

/// An import in one transaction of the store: rows are written as they are read, so that memory does not grow with
/// their number.
enum ImportBatch {
    /// How many destinations of relationships are remembered as existing.
    fileprivate static let mostKnown = 50_000
    /// The author of an import's transaction in the history.
    static let author = "pippin import"

    /// Whether an object can be imported as a row alone: the other sides of its relationships have neither an order nor
    /// a reference of their own, and its to-many relationships have no rules to check.
    static func suits(_ entity: EntityLayout, _ store: DirectStore) throws -> Bool {
        guard try store.asking({ $0.batches != nil }), entity.validatedToManys.isEmpty else { return false }
        return entity.toOnes.allSatisfy { $0.inverse.map { $0.isToMany && !$0.isOrdered } ?? true }
    }

    /// - Returns: the number of inserted objects.
    /// - Throws: `CommandError` that names the place of what is wrong, and the errors of the store; then nothing was
    ///   written.
    static func run(_ values: ImportValues, _ progress: ProgressLine) throws -> Int {
        try values.store.asking { engine in
            guard let batches = engine.batches else { return 0 }
            var plan = BatchInsertPlan(entity: values.entity)
            plan.origin.author = author
            var objects = try values.file.objects()
            var filler = RowFiller(values, engine)
            var count = 0
            return try batches.insertBatch(plan) { row in
                guard let (number, members) = try objects.next() else { return false }
                values.subentities.note(members)
                try filler.fill(&row, members, number)
                count += 1
                try EndingSignals.check()
                progress.say("\(TextTools.count(count, "object")) written", objects.fraction)
                return true
            }.count
        }
    }
}

/// Fills a row with the values of an object in a file, and checks them by the rules of the model.
private struct RowFiller {
    private let values: ImportValues
    private let engine: any StoreEngine
    /// An object of the entity without a context, which validates values.
    private let example: NSManagedObject
    /// Destinations that were found in the store.
    private var known: Set<NSManagedObjectID> = []

    init(_ values: ImportValues, _ engine: any StoreEngine) {
        (self.values, self.engine) = (values, engine)
        example = NSManagedObject(entity: values.entity.description, insertInto: nil)
    }

    mutating func fill(_ row: inout BatchRow, _ members: [(String, ImportFile.Value)], _ number: Int) throws {
        for (name, value) in members where name != "objectID" {
            switch try values.read(value, name, values.place(number)) {
            case .nothing: break
            case .none:
                if case .slot(let slot)? = values.entity.propertyByName[name] { row.values[slot] = .null }
            case .value(let value, let slot):
                if let attribute = values.entity.slots[slot].attribute {
                    row.values[slot] = StoredValue(value, for: attribute)
                }
            case .object(let identifier, let slot):
                try check(identifier, slot, number)
                row.values[slot] = .identifier(identifier)
            }
        }
        try validate(row, number)
    }

    /// Checks that the destination of a relationship exists.
    private mutating func check(_ identifier: NSManagedObjectID, _ slot: Int, _ number: Int) throws {
        guard !known.contains(identifier) else { return }
        let name = values.entity.slots[slot].name
        guard let destination = values.entity.relationship(named: name)?.destination,
            let other = try engine.row(for: identifier), other.objectID.layout.isKind(of: destination)
        else { throw values.noObject(identifier.uriRepresentation().absoluteString, slot, values.place(number)) }
        if known.count >= ImportBatch.mostKnown { known = [] }
        known.insert(identifier)
    }

    private func validate(_ row: BatchRow, _ number: Int) throws {
        for index in values.entity.validatedSlots {
            let slot = values.entity.slots[index]
            guard !slot.isTransient, slot.attribute?.derivation == nil else { continue }
            do {
                guard let attribute = slot.attribute else {
                    if !row.values[index].isNull || slot.isOptional { continue }
                    var none: AnyObject?
                    try example.validateValue(&none, forKey: slot.name)
                    continue
                }
                var value = row.values[index].objectValue(for: attribute) as AnyObject?
                try example.validateValue(&value, forKey: slot.name)
            } catch {
                throw CommandError("\(values.place(number)): \(error.localizedDescription)")
            }
        }
    }
}
