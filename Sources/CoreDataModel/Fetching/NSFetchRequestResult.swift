import Foundation

/// The types that a fetch request can return: managed objects, their IDs, dictionaries and numbers.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form of a fetch's results.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    /// The raw value, as Apple numbers the types.
    public let rawValue: UInt
    /// Makes a type from its raw value.
    ///
    /// - Parameter rawValue: the bits of Core Data's constants.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Managed objects.
    public static let managedObjectResultType: NSFetchRequestResultType = []
    /// IDs of managed objects.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries of the properties to fetch.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// The number of objects.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}
