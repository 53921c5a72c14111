import CoreData
import PredicateFormat

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
