import CoreData
import Pippin

extension Filter {
    /// A filter from a predicate of Core Data's.
    ///
    /// - Parameter predicate: the predicate, with the properties' names.
    /// - Returns: the filter.
    public static func predicate(_ predicate: NSPredicate) -> Filter { Filter(predicate: predicate) }
}
