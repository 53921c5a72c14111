import CoreDataModel
import Foundation

/// The error for a valid request that SQL cannot express: a store in memory leaves it to callers that have the objects.
package final class UnsupportedInSQL: NSError, @unchecked Sendable {
    // @unchecked Sendable: errors do not change.
}

/// The errors of SQL generation, for parts of a request that SQL cannot express.
package enum SQLError {
    /// Something that SQL does not offer. Core Data raises an exception here; Pippin throws.
    package static func unsupported(_ what: String) -> NSError {
        let error = StoreError.make(
            CoreDataErrorCode.coreData, "A store in a database cannot fetch with \(what).",
            suggestion: "Fetch without this part, and filter the objects in memory.")
        return UnsupportedInSQL(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }

    /// A derived attribute that a database does not compute.
    ///
    /// - Parameters:
    ///   - property: its entity and name.
    ///   - expression: its derivation.
    /// - Returns: the error.
    package static func underivable(_ property: String, _ expression: String) -> NSError {
        let error = StoreError.make(
            CoreDataErrorCode.coreData,
            "A store in a database cannot compute the derived attribute “\(property)”, whose expression is “\(expression)”; it may be an "
                + "attribute, one behind a to-one relationship, these in canonical:, uppercase: or lowercase:, now(), or @count, @sum, "
                + "@min, @max or @avg of a to-many relationship.",
            suggestion:
                "Derive it from one of these, or make it an attribute like others and set it when objects are saved.")
        return UnsupportedInSQL(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }

    /// A constant that is not allowed at its place, or is not of the type of the column that it is compared with.
    package static func unfit(_ what: String) -> NSError {
        StoreError.make(CoreDataErrorCode.coreData, "The predicate cannot be used: \(what).")
    }

    static func missingArgument(_ index: Int) -> NSError {
        StoreError.make(CoreDataErrorCode.coreData, "The predicate has no argument \(index).")
    }
}
