import CoreData
import PredicateFormat

/// Where models are in stores: what a context knows.
protocol ModelPlaces {
    /// The entity of a class; nil for one that the container does not have.
    func layout(of type: ModelType) -> EntityLayout?
    /// The identifier of a row; nil for one of another container's stores.
    func objectID(of identifier: PersistentIdentifier) -> NSManagedObjectID?
}

/// Makes Core Data's requests of descriptors.
struct FetchTranslation {
    let places: any ModelPlaces

    /// The request for what a descriptor describes.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for a class that the container does not have,
    ///   ``SwiftDataError/unsupportedPredicate``, ``SwiftDataError/unsupportedSortDescriptor`` and
    ///   ``SwiftDataError/unsupportedKeyPath``.
    func request<T, Result>(_ descriptor: FetchDescriptor<T>) throws -> NSFetchRequest<Result> {
        let type = ModelType.of(T.self)
        let request = NSFetchRequest<Result>()
        request.entity = try layout(of: type).description
        request.predicate = try descriptor.predicate.map(predicate)
        request.sortDescriptors = try descriptor.sortBy.map(sortDescriptor)
        request.fetchLimit = descriptor.fetchLimit ?? 0
        request.fetchOffset = descriptor.fetchOffset ?? 0
        request.includesPendingChanges = descriptor.includePendingChanges
        request.returnsObjectsAsFaults = false
        request.shouldRefreshRefetchedObjects = true
        request.relationshipKeyPathsForPrefetching = try descriptor.relationshipKeyPathsForPrefetching.map {
            try keys(of: $0, from: type).joined(separator: ".")
        }
        if !descriptor.propertiesToFetch.isEmpty {
            request.propertiesToFetch = try descriptor.propertiesToFetch.map { try keys(of: $0, from: type)[0] }
        }
        return request
    }

    func layout(of type: ModelType) throws -> EntityLayout {
        guard let layout = places.layout(of: type) else {
            throw SwiftDataError.unknownSchema.because(
                "The container has no \(type.name). Name the class where the container is made.")
        }
        return layout
    }

    private func keys(of keyPath: AnyKeyPath, from type: ModelType) throws -> [String] {
        guard let keys = PropertyNames.keys(of: keyPath, from: type), !keys.isEmpty else {
            throw SwiftDataError.unsupportedKeyPath.because("\(keyPath) does not lead to a persisted property.")
        }
        return keys
    }

    // MARK: Order

    private func sortDescriptor<T>(_ descriptor: SortDescriptor<T>) throws -> NSSortDescriptor
    where T: PersistentModel {
        guard let keyPath = descriptor.keyPath,
            let keys = PropertyNames.keys(of: keyPath, from: ModelType.of(T.self))
        else {
            throw SwiftDataError.unsupportedSortDescriptor.because(
                "\(descriptor) does not sort by a persisted property. Sort what has been fetched.")
        }
        return makeSortDescriptor(
            SortTerm(
                // No names lead to the identifier.
                keyPath: keys.isEmpty ? ["objectID"] : keys, ascending: descriptor.order == .forward,
                comparison: isLocalized(descriptor, keyPath) ? .localizedStandard : .plain))
    }

    /// The order of two models in memory.
    func memoryOrder<T>(_ descriptor: SortDescriptor<T>) throws -> (T, T) -> ComparisonResult
    where T: PersistentModel {
        guard let keyPath = descriptor.keyPath, isLocalized(descriptor, keyPath) else {
            return { descriptor.compare($0, $1) }
        }
        let isForward = descriptor.order == .forward
        return { left, right in
            let (left, right) = (text(left[keyPath: keyPath]), text(right[keyPath: keyPath]))
            let order: ComparisonResult =
                switch (left, right) {
                case (nil, nil): .orderedSame
                case (nil, _): .orderedAscending
                case (_, nil): .orderedDescending
                case (let left?, let right?): left.localizedStandardCompare(right)
                }
            return isForward ? order : order.reversed
        }
    }

    private func text(_ value: Any) -> String? { StoredValue.unwrapped(value) as? String }

    /// Whether texts are sorted by the rules of the locale. Where Apple's descriptor of a text says
    /// `.localizedStandard`, Foundation's here says nothing.
    private func isLocalized<T>(_ descriptor: SortDescriptor<T>, _ keyPath: AnyKeyPath) -> Bool {
        let value = type(of: keyPath).valueType
        return (optionalContent(of: value) ?? value) == String.self && descriptor.stringComparator != .lexical
    }

    // MARK: Predicates

    /// The predicate that stores evaluate.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate``, with the part that has no equivalent.
    func predicate<T>(_ predicate: Predicate<T>) throws -> NSPredicate where T: PersistentModel {
        var obstacle: String?
        var shapes = CompositeComparison()
        let tree: PredicateTree
        do {
            let converted = try predicateTree(
                of: predicate,
                constant: { value in
                    if let tree = constant(value) { return tree }
                    obstacle = "A value of the type \(type(of: value ?? "")) cannot be compared in a store."
                    return .constant(.null)
                },
                ordersRawValues: false,
                keys: { keyPath in
                    let keys = PropertyNames.keys(of: keyPath)
                    shapes.note(keyPath, keys)
                    return keys
                }, entities: entities(of:))
            tree = try shapes.expanding(converted)
        } catch let error as SwiftDataError {
            throw error
        } catch {
            throw SwiftDataError.unsupportedPredicate.because("\(error)")
        }
        if let obstacle { throw SwiftDataError.unsupportedPredicate.because(obstacle) }
        return makePredicate(tree)
    }

    /// The entities of a model class and its subclasses; nil for a type that the container does not have.
    private func entities(of type: Any.Type) -> ExpressionTree? {
        guard let model = type as? any PersistentModel.Type, let layout = places.layout(of: ModelType.of(model))
        else { return nil }
        return .constant(.collection(layout.selfAndSubentities.map { Value($0.description) }))
    }

    /// The expression for a value of the program; nil for one that no attribute is compared with.
    private func constant(_ value: Any?) -> ExpressionTree? {
        switch StoredValue.unwrapped(value) {
        case nil: return .constant(.null)
        case let identifier as PersistentIdentifier: return object(places.objectID(of: identifier))
        case let model as any PersistentModel: return object(model.modelState?.object?.objectID)
        case let primitive as any StoredPrimitive: return constantTree(primitive)
        case let raw as any RawRepresentable: return constant(raw.rawValue)
        case let range as any AnyRange: return constantTree(range)
        case let dictionary as [String: any StoredPrimitive]: return constantTree(dictionary)
        case let collection as any Collection: return elements(collection)
        case let value as any Codable: return CompositeComparison.constant(value)
        default: return nil
        }
    }

    private func elements<Values: Collection>(_ collection: Values) -> ExpressionTree? {
        var trees: [ExpressionTree] = []
        for element in collection {
            guard let tree = constant(element) else { return nil }
            trees.append(tree)
        }
        return .collection(of: trees)
    }

    /// An object that was never saved, or is another container's, equals no other.
    private func object(_ identifier: NSManagedObjectID?) -> ExpressionTree {
        .constant(.object(identifier ?? NSManagedObjectID()))
    }
}

extension ComparisonResult {
    fileprivate var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}

/// A range of any kind.
private protocol AnyRange {}
extension Range: AnyRange {}
extension ClosedRange: AnyRange {}
extension PartialRangeFrom: AnyRange {}
extension PartialRangeUpTo: AnyRange {}
extension PartialRangeThrough: AnyRange {}

/// What to fetch: the models of a class, those for which a predicate holds, in an order.
///
/// ```swift
/// var descriptor = FetchDescriptor<Book>(
///     predicate: #Predicate { $0.year > 1990 }, sortBy: [SortDescriptor(\.title)])
/// descriptor.fetchLimit = 20
/// let books = try context.fetch(descriptor)
/// ```
public struct FetchDescriptor<T> where T: PersistentModel {
    /// The condition; nil for all models.
    public var predicate: Predicate<T>?
    /// The order, the most significant descriptor first. Texts are in the order of the locale, as a file browser shows
    /// them, unless a descriptor names another comparator.
    public var sortBy: [SortDescriptor<T>]
    /// The largest number of models; nil for no limit.
    public var fetchLimit: Int?
    /// The number of models to leave out at the beginning.
    public var fetchOffset: Int?
    /// Whether unsaved changes count.
    public var includePendingChanges: Bool = true
    /// The properties that are needed; empty for all. Others are read when they are asked for.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// The relationships whose models are fetched together with the results.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for all models.
    ///   - sortBy: the order.
    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

extension FetchDescriptor: @unchecked Sendable {
    // @unchecked Sendable: key paths of models capture nothing.
}

extension FetchDescriptor: Equatable {
    /// Whether both describe the same fetch.
    ///
    /// Predicates are compared by what they say and by the values in them. Two that no store can evaluate are equal if
    /// their descriptions are.
    ///
    /// - Parameters:
    ///   - lhs: a descriptor.
    ///   - rhs: another one.
    /// - Returns: `true` if they do.
    public static func == (lhs: FetchDescriptor<T>, rhs: FetchDescriptor<T>) -> Bool {
        lhs.sortBy == rhs.sortBy && lhs.fetchLimit == rhs.fetchLimit && lhs.fetchOffset == rhs.fetchOffset
            && lhs.includePendingChanges == rhs.includePendingChanges
            && lhs.propertiesToFetch == rhs.propertiesToFetch
            && lhs.relationshipKeyPathsForPrefetching == rhs.relationshipKeyPathsForPrefetching
            && isEqual(lhs.predicate, rhs.predicate)
    }

    private static func isEqual(_ left: Predicate<T>?, _ right: Predicate<T>?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        func tree(_ predicate: Predicate<T>) -> PredicateTree? {
            try? predicateTree(of: predicate, ordersRawValues: false, keys: PropertyNames.keys(of:))
        }
        guard let leftTree = tree(left), let rightTree = tree(right) else { return "\(left)" == "\(right)" }
        return leftTree == rightTree
    }
}
