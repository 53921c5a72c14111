import CoreData

extension ModelContext {
    /// Fetches models.
    ///
    /// SQL: one `SELECT` for the models, and one for each relationship to prefetch.
    ///
    /// - Parameter descriptor: what to fetch.
    /// - Returns: the models, with their values.
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` and similar errors for what a store cannot do,
    ///   ``SwiftDataError/modelValidationFailure`` for a value that cannot be read where the program alone could make
    ///   another one, and the errors of the stores.
    public func fetch<T>(_ descriptor: FetchDescriptor<T>) throws -> [T] where T: PersistentModel {
        takeOver()
        if let store = ownStore(of: T.self) {
            return try OwnStoreFetch(context: self, store: store, descriptor: descriptor).models()
        }
        let request: NSFetchRequest<NSManagedObject> = try FetchTranslation(places: self).request(descriptor)
        let objects = try asking(descriptor.predicate) { try objectContext.fetch(request) }
        var models: [T] = []
        models.reserveCapacity(objects.count)
        for case let object as ModelObject in objects {
            if let model: T = typedModel(of: object) { models.append(model) }
        }
        guard core.needsValues, let obstacle = models.lazy.compactMap(\.modelState?.obstacle).first else {
            return models
        }
        throw SwiftDataError.modelValidationFailure.because(
            "\(obstacle) Mend the row, or let the property be optional.")
    }

    /// The model of an object, without the cast for one of the class itself.
    private func typedModel<T: PersistentModel>(of object: ModelObject) -> T? {
        let model = model(of: object)
        return type(of: model) == T.self ? unsafeDowncast(model as AnyObject, to: T.self) : model as? T
    }

    /// The number of models that a fetch would find.
    ///
    /// - Parameter descriptor: what to count.
    /// - Returns: the number, within the descriptor's limit.
    /// - Throws: the errors of `fetch(_:)`.
    public func fetchCount<T>(_ descriptor: FetchDescriptor<T>) throws -> Int where T: PersistentModel {
        takeOver()
        if let store = ownStore(of: T.self) {
            if hasChanges { return try fetch(descriptor).count }
            do { return try store.using { try $0.fetchCount(descriptor, for: editingState) } } catch is DataStoreError {
                return try fetch(descriptor).count
            }
        }
        let request: NSFetchRequest<NSManagedObject> = try FetchTranslation(places: self).request(descriptor)
        request.sortDescriptors = nil
        return try asking(descriptor.predicate) { try objectContext.count(for: request) }
    }

    /// Asks the stores, which may find that they cannot evaluate a predicate.
    private func asking<T, Result>(_ predicate: Predicate<T>?, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let error as NSError
            where predicate != nil && error.domain == NSCocoaErrorDomain && error.code == CoreDataErrorCode.coreData
        { throw SwiftDataError.unsupportedPredicate.because(error.localizedDescription) }
    }

    /// Fetches the identifiers of models.
    ///
    /// - Parameter descriptor: what to fetch.
    /// - Returns: the identifiers.
    /// - Throws: ``SwiftDataError/sortingPendingChangesWithIdentifiers`` for an order while there are unsaved changes
    ///   that the descriptor includes, and the errors of `fetch(_:)`.
    public func fetchIdentifiers<T>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    where T: PersistentModel {
        takeOver()
        return try objectIDs(descriptor).map { identifier in
            let object =
                identifier.isTemporaryID ? objectContext.registeredObject(for: identifier) as? ModelObject : nil
            return object?.modelState?.identifier ?? PersistentIdentifier(identifier)
        }
    }

    private func objectIDs<T>(_ descriptor: FetchDescriptor<T>) throws -> [NSManagedObjectID]
    where T: PersistentModel {
        if descriptor.includePendingChanges, !descriptor.sortBy.isEmpty, hasChanges {
            throw SwiftDataError.sortingPendingChangesWithIdentifiers.because(
                "Save first, or set includePendingChanges to false.")
        }
        if ownStore(of: T.self) != nil {
            return try fetch(descriptor).compactMap { $0.modelState?.object?.objectID }
        }
        let request: NSFetchRequest<NSManagedObjectID> = try FetchTranslation(places: self).request(descriptor)
        request.resultType = .managedObjectIDResultType
        return try asking(descriptor.predicate) { try objectContext.fetch(request) }
    }

    /// Fetches models, some at a time as they are asked for.
    ///
    /// - Parameters:
    ///   - descriptor: what to fetch.
    ///   - batchSize: how many models are read at once.
    /// - Returns: a collection that knows the identifiers of all, and reads the models.
    /// - Throws: ``SwiftDataError/includePendingChangesWithBatchSize`` while there are unsaved changes that the
    ///   descriptor includes, and the errors of `fetch(_:)`.
    public func fetch<T>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<T> where T: PersistentModel {
        takeOver()
        let identifiers = try batched(descriptor)
        return FetchResultsCollection(batches: FetchBatch(self, identifiers, batchSize: batchSize))
    }

    /// Fetches the identifiers of models.
    ///
    /// - Parameters:
    ///   - descriptor: what to fetch.
    ///   - batchSize: how many are read at once; identifiers are all read together.
    /// - Returns: the identifiers.
    /// - Throws: ``SwiftDataError/includePendingChangesWithBatchSize`` while there are unsaved changes that the
    ///   descriptor includes, and the errors of `fetch(_:)`.
    public func fetchIdentifiers<T>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> where T: PersistentModel {
        takeOver()
        return FetchResultsCollection(elements: try batched(descriptor).map { PersistentIdentifier($0) })
    }

    private func batched<T>(_ descriptor: FetchDescriptor<T>) throws -> [NSManagedObjectID] where T: PersistentModel {
        if descriptor.includePendingChanges, hasChanges {
            throw SwiftDataError.includePendingChangesWithBatchSize.because(
                "Save first, or set includePendingChanges to false.")
        }
        return try objectIDs(descriptor)
    }

    /// Calls a block with each model of a fetch, in its order, without having all of them in memory.
    ///
    /// - Parameters:
    ///   - fetch: what to fetch.
    ///   - batchSize: how many models are read at once.
    ///   - allowEscapingMutations: whether the block means to leave changes unsaved. Either way, changed models stay in
    ///     memory until they are saved.
    ///   - block: what to do with a model.
    /// - Throws: what the block throws, and the errors of `fetch(_:)`.
    public func enumerate<T>(
        _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
        block: (_ model: T) throws -> Void
    ) throws where T: PersistentModel {
        takeOver()
        let isSorted = fetch.includePendingChanges && !fetch.sortBy.isEmpty && hasChanges
        guard !isSorted else { return try self.fetch(fetch).forEach(block) }
        let batches = FetchBatch<T>(self, try objectIDs(fetch), batchSize: batchSize)
        for index in batches.identifiers.indices { try block(batches.model(at: index)) }
    }

    /// Deletes models in the stores, without reading them, and follows the delete rules there.
    ///
    /// SQL: `DELETE FROM "ZBOOK" … WHERE …`. Models that the context has are deleted with their rows; new ones that
    /// were not saved stay.
    ///
    /// - Parameters:
    ///   - model: the class.
    ///   - predicate: the condition; nil for all.
    ///   - includeSubclasses: whether models of subclasses are deleted, too.
    /// - Throws: the error of a rule that forbids it, such as a mandatory inverse, and the errors of `fetch(_:)`.
    public func delete<T>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws where T: PersistentModel {
        takeOver()
        if let store = ownStore(of: T.self) {
            let doomed = try fetchIdentifiers(FetchDescriptor<T>(predicate: predicate))
            try store.using { calls in
                try calls.delete(
                    DataStoreBatchDeleteRequest(
                        editingState: editingState, predicate: predicate, includeSubclasses: includeSubclasses))
            }
            store.forget(doomed)
            return announceDeletion(doomed.compactMap(objectID))
        }
        let request: NSFetchRequest<any NSFetchRequestResult> = try FetchTranslation(places: self)
            .request(FetchDescriptor<T>(predicate: predicate))
        request.includesSubentities = includeSubclasses
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeObjectIDs
        let result = try asking(predicate) { try objectContext.execute(deletion) as? NSBatchDeleteResult }
        announceDeletion(result?.result as? [NSManagedObjectID] ?? [])
    }

    /// Lets the contexts know of models that were deleted in a store.
    private func announceDeletion(_ identifiers: [NSManagedObjectID]) {
        let deleted = SavedIdentifiers(deleted: identifiers)
        guard !deleted.isEmpty else { return }
        merge(deleted)
        core.announce(deleted, from: mailbox)
    }
}

/// The results of a fetch, some of which are read at a time.
///
/// A copy shares its batches with the original. It belongs to the context of its models.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    /// A position.
    public typealias Index = Int
    /// The positions.
    public typealias Indices = Range<Int>
    /// An iterator over the results.
    public typealias Iterator = IndexingIterator<FetchResultsCollection<Element>>
    /// Some results next to each other.
    public typealias SubSequence = Slice<FetchResultsCollection<Element>>

    private let count_: Int
    private let element: (Int) -> Element

    init(elements: [Element]) { (count_, element) = (elements.count, { elements[$0] }) }

    init(batches: FetchBatch<Element>) where Element: PersistentModel {
        count_ = batches.identifiers.count
        element = { index in batches.model(at: index) }
    }

    /// The first position.
    public var startIndex: Int { 0 }
    /// The position after the last one.
    public var endIndex: Int { count_ }
    /// The result at a position; it is read together with its neighbours.
    ///
    /// - Parameter position: the position.
    public subscript(position: Int) -> Element { element(position) }
}

/// Models that are read in batches, by the identifiers that a fetch has found.
final class FetchBatch<Model: PersistentModel> {
    let identifiers: [NSManagedObjectID]
    private let context: ModelContext
    private let size: Int
    /// The batch that was read last, and the position of its first model.
    private var batch: (start: Int, models: [Model]) = (0, [])

    init(_ context: ModelContext, _ identifiers: [NSManagedObjectID], batchSize: Int) {
        (self.context, self.identifiers) = (context, identifiers)
        size = max(1, batchSize)
    }

    func model(at index: Int) -> Model {
        let start = index / size * size
        if batch.models.isEmpty || batch.start != start { batch = (start, read(start)) }
        return batch.models[index - start]
    }

    /// The models of a batch. If the rows cannot be read together, each model reads its own.
    private func read(_ start: Int) -> [Model] {
        let part = Array(identifiers[start..<min(start + size, identifiers.count)])
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = part.first?.layout.root.description
        request.predicate = NSPredicate(format: "SELF IN %@", part)
        request.returnsObjectsAsFaults = false
        let objects = (try? context.objectContext.fetch(request)) ?? []
        return withExtendedLifetime(objects) {
            part.compactMap { identifier in
                (context.objectContext.object(with: identifier) as? ModelObject).map(context.model) as? Model
            }
        }
    }
}
