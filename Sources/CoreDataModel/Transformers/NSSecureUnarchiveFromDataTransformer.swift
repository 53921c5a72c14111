import Foundation

/// Converts keyed archives to objects of allowed classes, and objects to keyed archives.
///
/// Subclass it to allow classes of your own:
///
/// ```swift
/// final class RouteTransformer: NSSecureUnarchiveFromDataTransformer {
///     override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Route.self] }
/// }
/// ```
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The allowed classes of the object, and of the objects in collections. By default those of property lists,
    /// `NSURL`, `NSUUID`, `NSSet` and `NSNull`.
    open class var allowedTopLevelClasses: [AnyClass] { UnarchivedClasses.basic }

    /// The object in a keyed archive; `nil` for an archive that is damaged, or contains objects of other classes.
    ///
    /// - Parameter value: the archive, as `Data`.
    /// - Returns: the object; `nil` for no value.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? SecureUnarchiving.object(
            in: data, allowed: UnarchivedClasses(type(of: self).allowedTopLevelClasses))
    }

    /// The keyed archive of an object; `nil` if it cannot be archived.
    ///
    /// - Parameter value: the object; `nil` for none.
    /// - Returns: the archive, as `Data`.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        value.flatMap { try? SecureUnarchiving.archive(of: $0) }
    }
}
