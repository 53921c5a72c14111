import Foundation

/// Makes a migration of many objects work in portions: the objects made so far are saved into the destination and
/// released.
///
/// All portions are one transaction. They are only checked at the end, since relationships are set after all objects
/// exist; rows that were invalid when they were saved are then read again.
final class MigrationPortions {
    // Confined to the migration's thread.
    private let source: NSManagedObjectContext
    private let destination: NSManagedObjectContext
    private let associations: MigrationAssociations
    /// How many objects are made or changed before they are saved.
    private let size: Int
    /// The store to save to; `nil` if objects are not identified by keys.
    private let store: (any LongTransactionEngine)?
    /// Whether the destination had no rows before.
    private let isNew: Bool
    private var doubtful = DoubtfulRows()
    private var nestedValues = NestedValueCheck()
    private var hasUpdated = false
    /// Whether a portion was saved. A small migration has no portions.
    private(set) var hasSaved = false

    /// How many rows of the source are read at once.
    static let reading = 512

    init(
        source: NSManagedObjectContext, destination: NSManagedObjectContext, associations: MigrationAssociations,
        size: Int, isNew: Bool
    ) {
        (self.source, self.destination) = (source, destination)
        self.associations = associations
        (self.size, self.isNew) = (size, isNew)
        let isRead = source.coordinator?.persistentStores.first?.engine.keys != nil
        store = isRead ? destination.coordinator?.persistentStores.first?.engine.longTransactions : nil
    }

    func saveIfFull() throws {
        guard store != nil, destination.changed.count >= size || associations.liveCount >= size else { return }
        try save()
    }

    /// Saves and releases the objects made so far.
    func save() throws {
        guard let store else { return }
        // Any other merge policy may resolve conflicts, for which the unique indexes are needed.
        let needsIndexes = destination.mergePolicy as? NSMergePolicy !== NSMergePolicy.error
        if !hasSaved { try store.beginLongTransaction(makesIndexesLater: isNew && !needsIndexes) }
        hasSaved = true
        if needsIndexes { try store.makeIndexes() }
        destination.processPendingChanges()
        let objects = try objectsToCheck()
        if destination.hasChanges { try destination.savePortion() }
        doubtful.note(objects)
        associations.settle()
        destination.loosen()
    }

    /// Releases the source objects that were read.
    func letGoOfSources() {
        if store != nil { source.loosen() }
    }

    /// Releases objects that were read and not changed.
    func letGo() {
        letGoOfSources()
        if store != nil { destination.loosen() }
    }

    /// Saves the remaining objects when all have been made. From then on keys identify them. If all objects are in
    /// memory, nothing happens.
    func finishMaking() throws {
        guard hasSaved else { return }
        try save()
        try store?.makeIndexes()
    }

    /// Saves the remaining changes, and checks everything.
    ///
    /// - Throws: the errors of validation and of saving.
    func finish() throws {
        guard hasSaved, let store else {
            guard destination.hasChanges else { return }
            try NSManagedObjectContext.throwIfAny(
                destination.changed.objects.filter { !$0.isDeleted }.compactMap { missingElement(of: $0) })
            try destination.save()
            return
        }
        try save()
        try check()
        try checkUniqueness()
        if isNew, hasUpdated { try store.resetVersions() }
        try store.endLongTransaction(commits: true)
    }

    /// Undoes all portions, if there are any.
    func abandon() {
        // The migration's error is the one to report; a transaction that is still open ends with its connection.
        try? store?.endLongTransaction(commits: false)
    }

    // MARK: Validation

    /// The objects of the next portion that must be checked again at the end.
    private func objectsToCheck() throws -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        for object in destination.changed.objects {
            if object.isDeleted {
                if object.state.isDisjoint(with: [.inserted, .inaccessible]) { try object.validateForDelete() }
                continue
            }
            if object.isUpdated { hasUpdated = true }
            if doubtful.concern(object.layout) || !isValid(object) { objects.append(object) }
        }
        return objects
    }

    private func isValid(_ object: NSManagedObject) -> Bool {
        guard object.layout.validatedToManys.isEmpty else { return false }
        do { try object.validateProperties() } catch { return false }
        return missingElement(of: object) == nil
    }

    private func missingElement(of object: NSManagedObject) -> NSError? {
        nestedValues.missingElement(of: object).map { ValidationError.missing($0, object: object) }
    }

    /// Tries again to make the unique indexes that could not be made before.
    ///
    /// - Throws: the error of a save of objects that share values which must be unique.
    private func checkUniqueness() throws {
        try store?.makeIndexes()
        let shared = try store?.sharedUniqueValues(limit: 100) ?? []
        guard !shared.isEmpty else { return }
        let conflicts = try shared.map { constraint, rows in
            NSConstraintConflict(
                constraint: constraint, database: nil, databaseSnapshot: nil,
                conflicting: try destination.loadedObjects(rows), conflictingSnapshots: [])
        }
        try NSMergePolicy.error.resolve(constraintConflicts: conflicts)
    }

    private func check() throws {
        for (side, keys) in doubtful.rows {
            var rest = keys[...]
            while !rest.isEmpty {
                let objects = try destination.loadedObjects(rest.prefix(Self.reading).map(side.identifier))
                rest = rest.dropFirst(Self.reading)
                var errors: [NSError] = []
                for object in objects {
                    do { try object.validateProperties(countsAll: true) } catch {
                        let error = error as NSError
                        errors += error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
                    }
                    if let error = missingElement(of: object) { errors.append(error) }
                }
                try NSManagedObjectContext.throwIfAny(errors)
                destination.loosen()
            }
        }
    }
}

/// The rows that must be validated again, by entity.
private struct DoubtfulRows {
    private var byEntity: [ObjectIdentifier: (side: KeyPairs.Side, keys: [Int64])] = [:]

    /// Whether there are rows of an entity, in which case the others are probably like them.
    func concern(_ entity: EntityLayout) -> Bool { byEntity[ObjectIdentifier(entity)] != nil }

    mutating func note(_ objects: [NSManagedObject]) {
        for object in objects {
            guard let side = KeyPairs.Side(object.identifier) else { continue }
            byEntity[ObjectIdentifier(side.layout), default: (side, [])].keys.append(object.identifier.key)
        }
    }

    /// The keys, each once and ascending.
    var rows: [(side: KeyPairs.Side, keys: [Int64])] {
        byEntity.values.sorted { $0.side.layout.number < $1.side.layout.number }.map { side, keys in
            var last: Int64?
            let unique = keys.sorted().filter { key in
                defer { last = key }
                return key != last
            }
            return (side, unique)
        }
    }
}
