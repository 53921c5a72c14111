import Foundation

/// The errors of SQL generation: what of a request cannot be said in SQL.
package enum SQLError {
    /// Something that SQL does not offer. Core Data raises an exception here; we throw.
    package static func unsupported(_ what: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData, "An SQLite store cannot fetch with \(what).",
            suggestion: "Fetch without this part, and filter the objects in memory.")
    }

    /// A key that an entity does not have.
    package static func unknownKey(_ key: String, path: [String], entity: EntityLayout) -> NSError {
        let known = entity.propertyByName.keys.sorted().joined(separator: ", ")
        return StoreError.make(
            CoreDataErrorCode.coreData,
            "Entity “\(entity.name)” has no property “\(key)” (in “\(path.joined(separator: "."))”). It has: \(known).")
    }

    /// A to-many key path where one value is needed.
    package static func toMany(_ path: [String], entity: EntityLayout) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "“\(path.joined(separator: "."))” of entity “\(entity.name)” leads to many objects, where one value is needed.",
            suggestion: "Put ANY, ALL or NONE before it, or compute one value with @count, @sum, @min, @max or @avg.")
    }

    static func missingArgument(_ index: Int) -> NSError {
        StoreError.make(CoreDataErrorCode.coreData, "The predicate has no argument \(index).")
    }
}
