import CoreData

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
