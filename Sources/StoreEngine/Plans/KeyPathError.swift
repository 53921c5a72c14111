import CoreDataModel
import Foundation
import Ordering
import PredicateFormat

/// The errors of key paths that are invalid in a fetch.
package enum KeyPathError {
    /// A key that an entity does not have.
    package static func unknownKey(_ key: String, path: [String], entity: EntityLayout) -> NSError {
        let known = entity.propertyByName.keys.sorted().joined(separator: ", ")
        return StoreError.make(
            CoreDataErrorCode.coreData,
            "Entity “\(entity.name)” has no property “\(key)” (in “\(path.joined(separator: "."))”). It has: \(known).")
    }

    /// A subquery of something else than objects.
    package static func noRelationship(_ collection: ExpressionTree, entity: EntityLayout) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "The predicate cannot be used: SUBQUERY takes a relationship of entity “\(entity.name)”, and "
                + "“\(collection.format)” is not one.")
    }

    /// A to-many key path where one value is needed.
    package static func toMany(_ path: [String], entity: EntityLayout) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "“\(path.joined(separator: "."))” of entity “\(entity.name)” leads to many objects, where one value is needed.",
            suggestion: "Put ANY, ALL or NONE before it, or compute one value with @count, @sum, @min, @max or @avg.")
    }
}
