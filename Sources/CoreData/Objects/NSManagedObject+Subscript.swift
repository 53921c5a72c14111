import Foundation

// In the protocol, not the class: subclasses have subscripts of their own, which would otherwise have to be overrides.
extension NSFetchRequestResult where Self: NSManagedObject {
    /// The value of a property by its name, as in `value(forKey:)` and `setValue(_:forKey:)`.
    ///
    /// ```swift
    /// book["title"] = "Emma"
    /// ```
    ///
    /// - Parameter key: the name of a property; any other stops the program.
    public subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }
}
