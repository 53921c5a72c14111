import CoreData
import Pippin

extension Filter {
    /// What a predicate says.
    ///
    /// - Parameter predicate: the predicate, with the properties' names.
    /// - Returns: the filter.
    public static func predicate(_ predicate: NSPredicate) -> Filter { Filter(predicate: predicate) }
}
