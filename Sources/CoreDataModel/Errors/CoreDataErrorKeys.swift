/// In an error: all errors of a failed validation or save.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// In a validation error: the object.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// In a validation error: the property.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The name of the entity whose relationship, under `NSValidationKeyErrorKey`, refuses a deletion by a batch: an error
/// of a batch has no object that would tell it.
package let deletedEntityErrorKey = "PippinDeletedEntity"
/// In a validation error: the predicate that was not satisfied.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// In a validation error: the value.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// In an error: the stores that it concerns.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// In an error: the objects that it concerns.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// In an error of a save: the conflicts. Core Data's errors show them under this name.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
