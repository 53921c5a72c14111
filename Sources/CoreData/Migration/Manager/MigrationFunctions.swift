/// An object whose methods the value expressions of mapping models call by name.
///
/// Without the Objective-C runtime a method cannot be found by its name. A subclass of `NSEntityMigrationPolicy` or
/// `NSMigrationManager` that is called as `FUNCTION($entityPolicy, "fullNameFrom:", $source.name)` says here what the
/// name means:
///
/// ```swift
/// final class PersonPolicy: NSEntityMigrationPolicy {
///     override func callFunction(_ name: String, arguments: [Any?]) throws -> Any? {
///         switch name {
///         case "fullNameFrom:": fullName(from: arguments[0] as? String)
///         default: try super.callFunction(name, arguments: arguments)
///         }
///     }
/// }
/// ```
///
/// On Apple's platforms the same expressions call the methods themselves, and nothing here is needed.
public protocol MigrationFunctionCalling: AnyObject {
    /// Calls a method by the name that a value expression has for it.
    ///
    /// - Parameters:
    ///   - name: the method's Objective-C name, with a colon for each argument.
    ///   - arguments: the values, in order.
    /// - Returns: the result.
    /// - Throws: an error that names the function when the object has none of that name.
    func callFunction(_ name: String, arguments: [Any?]) throws -> Any?
}
