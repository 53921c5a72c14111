import Foundation

/// Core Data's error codes by name. Each also has the long name that Swift formerly gave it.
///
/// They are members of `CocoaError.Code`, and of `CocoaError`, for use in a `catch`:
///
/// ```swift
/// do {
///     try context.save()
/// } catch CocoaError.managedObjectValidation {
///     // Say which value is wrong.
/// } catch let error as CocoaError where error.code == .persistentStoreTimeout {
///     // Try again later.
/// }
/// ```
public protocol CoreDataErrorCodes {}

extension CocoaError: CoreDataErrorCodes {}
extension CocoaError.Code: CoreDataErrorCodes {}

extension CoreDataErrorCodes {
    /// A request or a configuration is invalid.
    public static var coreData: CocoaError.Code { CocoaError.Code(rawValue: CoreDataErrorCode.coreData) }
    /// The long name of ``coreData``.
    public static var coreDataError: CocoaError.Code { coreData }
    /// A save found values that are not unique as required, and the merge policy did not resolve the conflict.
    public static var managedObjectConstraintMerge: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectConstraintMerge)
    }
    /// The long name of ``managedObjectConstraintMerge``.
    public static var managedObjectConstraintMergeError: CocoaError.Code { managedObjectConstraintMerge }
    /// A context could not be locked.
    public static var managedObjectContextLocking: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectContextLocking)
    }
    /// The long name of ``managedObjectContextLocking``.
    public static var managedObjectContextLockingError: CocoaError.Code { managedObjectContextLocking }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectExternalRelationship)
    }
    /// The long name of ``managedObjectExternalRelationship``.
    public static var managedObjectExternalRelationshipError: CocoaError.Code { managedObjectExternalRelationship }
    /// A save found changes by somebody else, and the merge policy did not resolve the conflict.
    public static var managedObjectMerge: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectMerge)
    }
    /// The long name of ``managedObjectMerge``.
    public static var managedObjectMergeError: CocoaError.Code { managedObjectMerge }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectReferentialIntegrity)
    }
    /// The long name of ``managedObjectReferentialIntegrity``.
    public static var managedObjectReferentialIntegrityError: CocoaError.Code { managedObjectReferentialIntegrity }
    /// A value of an object is not valid.
    public static var managedObjectValidation: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectValidation)
    }
    /// The long name of ``managedObjectValidation``.
    public static var managedObjectValidationError: CocoaError.Code { managedObjectValidation }
    /// A date is after the latest that is allowed.
    public static var validationDateTooLate: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationDateTooLate)
    }
    /// The long name of ``validationDateTooLate``.
    public static var validationDateTooLateError: CocoaError.Code { validationDateTooLate }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoon: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationDateTooSoon)
    }
    /// The long name of ``validationDateTooSoon``.
    public static var validationDateTooSoonError: CocoaError.Code { validationDateTooSoon }
    /// A value is not a date.
    public static var validationInvalidDate: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationInvalidDate)
    }
    /// The long name of ``validationInvalidDate``.
    public static var validationInvalidDateError: CocoaError.Code { validationInvalidDate }
    /// A required property has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationMissingMandatoryProperty)
    }
    /// The long name of ``validationMissingMandatoryProperty``.
    public static var validationMissingMandatoryPropertyError: CocoaError.Code { validationMissingMandatoryProperty }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrors: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationMultipleErrors)
    }
    /// The long name of ``validationMultipleErrors``.
    public static var validationMultipleErrorsError: CocoaError.Code { validationMultipleErrors }
    /// A number is above its maximum.
    public static var validationNumberTooLarge: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationNumberTooLarge)
    }
    /// The long name of ``validationNumberTooLarge``.
    public static var validationNumberTooLargeError: CocoaError.Code { validationNumberTooLarge }
    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationNumberTooSmall)
    }
    /// The long name of ``validationNumberTooSmall``.
    public static var validationNumberTooSmallError: CocoaError.Code { validationNumberTooSmall }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationRelationshipDeniedDelete)
    }
    /// The long name of ``validationRelationshipDeniedDelete``.
    public static var validationRelationshipDeniedDeleteError: CocoaError.Code { validationRelationshipDeniedDelete }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationRelationshipExceedsMaximumCount)
    }
    /// The long name of ``validationRelationshipExceedsMaximumCount``.
    public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
        validationRelationshipExceedsMaximumCount
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationRelationshipLacksMinimumCount)
    }
    /// The long name of ``validationRelationshipLacksMinimumCount``.
    public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
        validationRelationshipLacksMinimumCount
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationStringPatternMatching)
    }
    /// The long name of ``validationStringPatternMatching``.
    public static var validationStringPatternMatchingError: CocoaError.Code { validationStringPatternMatching }
    /// A string is longer than its maximum.
    public static var validationStringTooLong: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationStringTooLong)
    }
    /// The long name of ``validationStringTooLong``.
    public static var validationStringTooLongError: CocoaError.Code { validationStringTooLong }
    /// A string is shorter than its minimum.
    public static var validationStringTooShort: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationStringTooShort)
    }
    /// The long name of ``validationStringTooShort``.
    public static var validationStringTooShortError: CocoaError.Code { validationStringTooShort }
}
