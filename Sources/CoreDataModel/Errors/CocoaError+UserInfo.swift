import Foundation

// The content of Core Data's errors, by name.
extension CocoaError {
    /// The object that is not valid: the value of `NSValidationObjectErrorKey`.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The property whose value is not valid: the value of `NSValidationKeyErrorKey`.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The predicate that the value does not satisfy: the value of `NSValidationPredicateErrorKey`.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The value that is not valid: the value of `NSValidationValueErrorKey`.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

    /// The stores that the error concerns: the value of `NSAffectedStoresErrorKey`.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }

    /// The objects that the error concerns: the value of `NSAffectedObjectsErrorKey`.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
}
