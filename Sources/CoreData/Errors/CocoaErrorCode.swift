import Foundation

// Core Data's codes by name; every code has the long name that Swift once gave it, too.
extension CocoaError.Code {
    /// A request or a set-up makes no sense.
    public static var coreData: CocoaError.Code { CocoaError.Code(rawValue: NSCoreDataError) }
    /// A request or a set-up makes no sense.
    public static var coreDataError: CocoaError.Code { CocoaError.Code(rawValue: NSCoreDataError) }
    /// A save met values that must be unique, and the merge policy did not resolve it.
    public static var managedObjectConstraintMerge: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError)
    }
    /// A save met values that must be unique, and the merge policy did not resolve it.
    public static var managedObjectConstraintMergeError: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError)
    }
    /// A context could not be locked.
    public static var managedObjectContextLocking: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectContextLockingError)
    }
    /// A context could not be locked.
    public static var managedObjectContextLockingError: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectContextLockingError)
    }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectExternalRelationshipError)
    }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationshipError: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectExternalRelationshipError)
    }
    /// A save met changes by somebody else that the merge policy did not resolve.
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectMergeError) }
    /// A save met changes by somebody else that the merge policy did not resolve.
    public static var managedObjectMergeError: CocoaError.Code { CocoaError.Code(rawValue: NSManagedObjectMergeError) }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError)
    }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrityError: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError)
    }
    /// A value of an object is not valid.
    public static var managedObjectValidation: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectValidationError)
    }
    /// A value of an object is not valid.
    public static var managedObjectValidationError: CocoaError.Code {
        CocoaError.Code(rawValue: NSManagedObjectValidationError)
    }
    /// A date is after the latest that is allowed.
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooLateError) }
    /// A date is after the latest that is allowed.
    public static var validationDateTooLateError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationDateTooLateError)
    }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code(rawValue: NSValidationDateTooSoonError) }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoonError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationDateTooSoonError)
    }
    /// A date is none.
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code(rawValue: NSValidationInvalidDateError) }
    /// A date is none.
    public static var validationInvalidDateError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationInvalidDateError)
    }
    /// A required property has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationMissingMandatoryPropertyError)
    }
    /// A required property has no value.
    public static var validationMissingMandatoryPropertyError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationMissingMandatoryPropertyError)
    }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrors: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
    }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrorsError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
    }
    /// A number is above its maximum.
    public static var validationNumberTooLarge: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
    }
    /// A number is above its maximum.
    public static var validationNumberTooLargeError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
    }
    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
    }
    /// A number is below its minimum.
    public static var validationNumberTooSmallError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
    }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipDeniedDeleteError)
    }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDeleteError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipDeniedDeleteError)
    }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipExceedsMaximumCountError)
    }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipExceedsMaximumCountError)
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipLacksMinimumCountError)
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationRelationshipLacksMinimumCountError)
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationStringPatternMatchingError)
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatchingError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationStringPatternMatchingError)
    }
    /// A string is longer than its maximum.
    public static var validationStringTooLong: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationStringTooLongError)
    }
    /// A string is longer than its maximum.
    public static var validationStringTooLongError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationStringTooLongError)
    }
    /// A string is shorter than its minimum.
    public static var validationStringTooShort: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationStringTooShortError)
    }
    /// A string is shorter than its minimum.
    public static var validationStringTooShortError: CocoaError.Code {
        CocoaError.Code(rawValue: NSValidationStringTooShortError)
    }
}
