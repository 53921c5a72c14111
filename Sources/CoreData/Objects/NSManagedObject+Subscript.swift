import Foundation

// Of the protocol, not of the class: subclasses have subscripts of their own, which a subscript of the class would force
// to be overrides.
extension NSFetchRequestResult where Self: NSManagedObject {
    /// The value of a property by its name, as `value(forKey:)` and `setValue(_:forKey:)` have it.
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
