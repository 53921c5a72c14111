/// Access to an object's values by their names.
///
/// On Apple's platforms the Objective-C runtime gives every `NSObject` key-value coding. Elsewhere a class adopts this
/// protocol to let predicates and sort descriptors read it. Managed objects conform; your own classes can:
///
/// ```swift
/// final class Track: KeyValueCoding {
///     let title: String
///     func value(forKey key: String) -> Any? {
///         key == "title" ? title : nil
///     }
/// }
/// ```
///
/// Objects that do not conform, and structs, are read by reflection, which is slower.
public protocol KeyValueCoding: AnyObject {
    /// Returns the value of a property.
    ///
    /// - Parameter key: the property's name, not a key path.
    /// - Returns: the value, or `nil` if the property has none.
    func value(forKey key: String) -> Any?
}
