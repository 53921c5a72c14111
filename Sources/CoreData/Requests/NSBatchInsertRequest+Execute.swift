import Foundation
import StoreSession

extension NSBatchInsertRequest: ExecutableRequest {
    func execute(in source: NSPersistentStoreCoordinator, for context: NSManagedObjectContext) throws -> Any {
        let layout = try context.entity(named: entityName, for: "A batch insertion")
        var plan = BatchInsertPlan(entity: layout)
        plan.conflicts = Self.rule(of: context.mergePolicy)
        plan.wantsIdentifiers = resultType == .objectIDs
        plan.origin = try context.changeOrigin()
        let outcome = try insert(plan, source)
        return NSBatchInsertResult(result: outcome.result(resultType.rawValue), resultType: resultType)
    }

    private static func rule(of policy: Any) -> BatchConflictRule {
        switch (policy as? NSMergePolicy)?.mergeType {
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: return .replace
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return .keep
        case .errorMergePolicyType, nil: return .fail
        }
    }

    private func insert(_ plan: BatchInsertPlan, _ source: NSPersistentStoreCoordinator) throws -> BatchOutcome {
        let reader = BatchRowReader(plan.entity, tracksGiven: plan.conflicts == .replace)
        if let objectsToInsert {
            var position = 0
            var plan = plan
            plan.rewind = { position = 0 }
            return try source.session.insertBatch(plan, stores: affectedStores?.map(\.sessionStore)) { row in
                guard position < objectsToInsert.count else { return false }
                for (key, value) in objectsToInsert[position] { try reader.set(value, key, in: &row, position) }
                try reader.checkRequired(row, position)
                position += 1
                return true
            }
        }
        if let dictionaryHandler {
            let dictionary = NSMutableDictionary()
            var position = 0
            return try source.session.insertBatch(plan, stores: affectedStores?.map(\.sessionStore)) { row in
                dictionary.removeAllObjects()
                if dictionaryHandler(dictionary) { return false }
                for (key, value) in dictionary {
                    guard let key = key as? String else { continue }
                    try reader.set(value, key, in: &row, position)
                }
                try reader.checkRequired(row, position)
                position += 1
                return true
            }
        }
        if let managedObjectHandler { return try insert(plan, source, reader, managedObjectHandler) }
        throw StoreError.make(
            CoreDataErrorCode.coreData,
            "The batch insertion into “\(entityName)” has neither objectsToInsert nor a handler, so there is nothing to insert."
        )
    }

    /// Hands out objects of a private context.
    private func insert(
        _ plan: BatchInsertPlan, _ source: NSPersistentStoreCoordinator, _ reader: BatchRowReader,
        _ handler: (NSManagedObject) -> Bool
    ) throws -> BatchOutcome {
        let scratch = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        scratch.persistentStoreCoordinator = source
        return try scratch.performAndWait { () throws -> BatchOutcome in
            var position = 0
            var objects = BatchObjects(plan.entity, in: scratch)
            return try source.session.insertBatch(plan, stores: affectedStores?.map(\.sessionStore)) { row in
                let object = objects.next()
                if handler(object) { return false }
                for slot in row.values.indices {
                    let value = object.values[slot]
                    if case .object(let other) = value, other is UnacceptableValue,
                        let attribute = plan.entity.slots[slot].attribute
                    {
                        // The error names the value and the object.
                        _ = try BatchRowReader.checked(value.objectValue(for: attribute), plan.entity, slot, position)
                    }
                    row.values[slot] = value
                }
                try reader.checkRequired(row, position)
                position += 1
                return true
            }
        }
    }
}

/// The objects that a batch insertion hands out, one at a time, in a private context.
///
/// An object that the program did not keep is reset and handed out again: making one costs more than writing its row.
struct BatchObjects {
    private let entity: EntityLayout
    private let context: NSManagedObjectContext
    private var latest: NSManagedObject?
    private var isReusable = false

    init(_ entity: EntityLayout, in context: NSManagedObjectContext) {
        self.entity = entity
        self.context = context
    }

    /// An object with the entity's defaults, and the changes that its class makes on insertion.
    mutating func next() -> NSManagedObject {
        if isReusable, isKnownUniquelyReferenced(&latest), let latest {
            latest.becomeNew()
            return latest
        }
        if let latest { context.forget(latest) }
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context)
        context.unlistChanges()
        if latest == nil { isReusable = !Self.hasStoredProperties(object) }
        latest = object
        return object
    }

    /// Whether the object's class has stored properties of its own, which only the class itself could reset.
    private static func hasStoredProperties(_ object: NSManagedObject) -> Bool {
        var mirror: Mirror? = Mirror(reflecting: object)
        while let level = mirror, level.subjectType != NSManagedObject.self {
            if !level.children.isEmpty { return true }
            mirror = level.superclassMirror
        }
        return false
    }
}

/// Puts the values of dictionaries into rows: the hot path of a batch insertion.
struct BatchRowReader {
    private let layout: EntityLayout
    private let names: [String]
    private let types: [NSAttributeType]
    private let tracksGiven: Bool
    /// The attributes that must have a value.
    private let required: [Int]

    /// - Parameters:
    ///   - layout: the entity whose rows are read.
    ///   - tracksGiven: whether rows shall record which values were given.
    init(_ layout: EntityLayout, tracksGiven: Bool) {
        self.layout = layout
        self.tracksGiven = tracksGiven
        names = layout.slots.map(\.name)
        types = layout.attributeTypes
        required = layout.slots.indices.filter { slot in
            let slot = layout.slots[slot]
            guard let attribute = slot.attribute, attribute.derivation == nil else { return false }
            return !slot.isOptional && !slot.isTransient
        }
    }

    /// Checks that the attributes that are not optional have a given or default value.
    ///
    /// - Throws: an `NSError` of code 1570 that names the row and the attribute.
    func checkRequired(_ row: BatchRow, _ position: Int) throws {
        for slot in required where row.values[slot].isNull {
            throw NSError(
                domain: NSCocoaErrorDomain, code: CoreDataErrorCode.validationMissingMandatoryProperty,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "Object \(position) of a batch insertion: “\(layout.name).\(names[slot])” is a required value, and "
                        + "has none.",
                    NSValidationKeyErrorKey: names[slot],
                ])
        }
    }

    /// Sets one value. Keys that are not an attribute or to-one relationship of the entity are ignored.
    ///
    /// - Parameters:
    ///   - value: the value; `NSNull` for none.
    ///   - key: the name of the property.
    ///   - row: the row to write to.
    ///   - position: the number of the row, for errors.
    /// - Throws: an error if the value does not fit the property.
    func set(_ value: Any, _ key: String, in row: inout BatchRow, _ position: Int) throws {
        guard let slot = slot(key) else { return }
        row.values[slot] = try Self.quick(value, types[slot]) ?? Self.checked(value, layout, slot, position)
        guard tracksGiven else { return }
        if row.isGiven.isEmpty { row.isGiven = ContiguousArray(repeating: false, count: names.count) }
        row.isGiven[slot] = true
    }

    /// Comparing a few short names is faster than hashing one.
    private func slot(_ key: String) -> Int? {
        if names.count > 16 { return layout.slotIndex(forName: key) }
        for slot in names.indices where names[slot] == key { return slot }
        return nil
    }

    /// Converts the usual values directly, without going through all types that an attribute accepts; nil for others.
    private static func quick(_ value: Any, _ type: NSAttributeType) -> StoredValue? {
        switch type {
        case .stringAttributeType: return exact(value, String.self).map(StoredValue.string)
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            if let number = exact(value, Int.self) { return StoredValue(whole: Int64(number), for: type) }
            if let number = exact(value, Int64.self) { return StoredValue(whole: number, for: type) }
            if let number = exact(value, Int32.self) { return StoredValue(whole: Int64(number), for: type) }
            return exact(value, Int16.self).map { .integer(Int64($0)) }
        case .booleanAttributeType: return exact(value, Bool.self).map { .integer($0 ? 1 : 0) }
        case .doubleAttributeType:
            guard let number = exact(value, Double.self), !number.isNaN else { return nil }
            return .double(number)
        case .dateAttributeType:
            guard let seconds = exact(value, Date.self)?.timeIntervalSinceReferenceDate, seconds.isFinite else {
                return nil
            }
            return .date(seconds)
        default: return nil
        }
    }

    /// The value, if it is of exactly that type. `as?` also looks for bridging and conformances, which takes ten times
    /// as long and was a fifth of an insertion's time.
    @inline(__always)
    private static func exact<Exact>(_ value: Any, _ type: Exact.Type) -> Exact? {
        guard Swift.type(of: value) == type else { return nil }
        // The types are the same, so the bits are a value of `Exact`.
        func reinterpreted<Value>(_ value: Value) -> Exact { unsafeBitCast(value, to: Exact.self) }
        return reinterpreted(value)
    }

    /// The stored form of any value.
    ///
    /// - Throws: an `NSError` that names the row, the property and the value's type if it does not fit.
    static func checked(
        _ value: Any?, _ layout: EntityLayout, _ slot: Int, _ position: Int
    ) throws -> StoredValue {
        do { return try BatchChanges.stored(value, layout.slots[slot], layout) } catch {
            let error = error as NSError
            var info = error.userInfo
            info[NSLocalizedDescriptionKey] = "Object \(position) of a batch insertion: \(error.localizedDescription)"
            throw NSError(domain: error.domain, code: error.code, userInfo: info)
        }
    }
}
