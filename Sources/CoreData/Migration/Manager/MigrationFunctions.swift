/// An object whose methods the value expressions of mapping models call by name.
///
/// Without the Objective-C runtime a method cannot be found by its name. A subclass of `NSEntityMigrationPolicy` or
/// `NSMigrationManager` that is called by an expression like `FUNCTION($entityPolicy, "fullNameFrom:", $source.name)`
/// maps names to methods here:
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
/// On Apple's platforms the same expressions call the methods directly, and this is not needed.
public protocol MigrationFunctionCalling: AnyObject {
    /// Calls a method by the name that a value expression uses.
    ///
    /// - Parameters:
    ///   - name: the method's Objective-C name, with a colon for each argument.
    ///   - arguments: the values, in order.
    /// - Returns: the result.
    /// - Throws: an error that names the function if the object has none of that name.
    func callFunction(_ name: String, arguments: [Any?]) throws -> Any?
}
