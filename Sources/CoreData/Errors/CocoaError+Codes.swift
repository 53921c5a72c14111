import Foundation

// What a `catch` names: `catch CocoaError.managedObjectValidation`.
extension CocoaError {
    /// A request or a set-up makes no sense.
    public static var coreData: CocoaError.Code { CocoaError.Code.coreData }
    /// A request or a set-up makes no sense.
    public static var coreDataError: CocoaError.Code { CocoaError.Code.coreData }
    /// A save met values that must be unique, and the merge policy did not resolve it.
    public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code.managedObjectConstraintMerge }
    /// A save met values that must be unique, and the merge policy did not resolve it.
    public static var managedObjectConstraintMergeError: CocoaError.Code {
        CocoaError.Code.managedObjectConstraintMerge
    }
    /// A context could not be locked.
    public static var managedObjectContextLocking: CocoaError.Code { CocoaError.Code.managedObjectContextLocking }
    /// A context could not be locked.
    public static var managedObjectContextLockingError: CocoaError.Code { CocoaError.Code.managedObjectContextLocking }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code.managedObjectExternalRelationship
    }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationshipError: CocoaError.Code {
        CocoaError.Code.managedObjectExternalRelationship
    }
    /// A save met changes by somebody else that the merge policy did not resolve.
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code.managedObjectMerge }
    /// A save met changes by somebody else that the merge policy did not resolve.
    public static var managedObjectMergeError: CocoaError.Code { CocoaError.Code.managedObjectMerge }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code.managedObjectReferentialIntegrity
    }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrityError: CocoaError.Code {
        CocoaError.Code.managedObjectReferentialIntegrity
    }
    /// A value of an object is not valid.
    public static var managedObjectValidation: CocoaError.Code { CocoaError.Code.managedObjectValidation }
    /// A value of an object is not valid.
    public static var managedObjectValidationError: CocoaError.Code { CocoaError.Code.managedObjectValidation }
    /// A date is after the latest that is allowed.
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code.validationDateTooLate }
    /// A date is after the latest that is allowed.
    public static var validationDateTooLateError: CocoaError.Code { CocoaError.Code.validationDateTooLate }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code.validationDateTooSoon }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoonError: CocoaError.Code { CocoaError.Code.validationDateTooSoon }
    /// A date is none.
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code.validationInvalidDate }
    /// A date is none.
    public static var validationInvalidDateError: CocoaError.Code { CocoaError.Code.validationInvalidDate }
    /// A required property has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code.validationMissingMandatoryProperty
    }
    /// A required property has no value.
    public static var validationMissingMandatoryPropertyError: CocoaError.Code {
        CocoaError.Code.validationMissingMandatoryProperty
    }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code.validationMultipleErrors }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrorsError: CocoaError.Code { CocoaError.Code.validationMultipleErrors }
    /// A number is above its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code.validationNumberTooLarge }
    /// A number is above its maximum.
    public static var validationNumberTooLargeError: CocoaError.Code { CocoaError.Code.validationNumberTooLarge }
    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code.validationNumberTooSmall }
    /// A number is below its minimum.
    public static var validationNumberTooSmallError: CocoaError.Code { CocoaError.Code.validationNumberTooSmall }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code.validationRelationshipDeniedDelete
    }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDeleteError: CocoaError.Code {
        CocoaError.Code.validationRelationshipDeniedDelete
    }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code.validationRelationshipExceedsMaximumCount
    }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
        CocoaError.Code.validationRelationshipExceedsMaximumCount
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code.validationRelationshipLacksMinimumCount
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
        CocoaError.Code.validationRelationshipLacksMinimumCount
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code {
        CocoaError.Code.validationStringPatternMatching
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatchingError: CocoaError.Code {
        CocoaError.Code.validationStringPatternMatching
    }
    /// A string is longer than its maximum.
    public static var validationStringTooLong: CocoaError.Code { CocoaError.Code.validationStringTooLong }
    /// A string is longer than its maximum.
    public static var validationStringTooLongError: CocoaError.Code { CocoaError.Code.validationStringTooLong }
    /// A string is shorter than its minimum.
    public static var validationStringTooShort: CocoaError.Code { CocoaError.Code.validationStringTooShort }
    /// A string is shorter than its minimum.
    public static var validationStringTooShortError: CocoaError.Code { CocoaError.Code.validationStringTooShort }
}
