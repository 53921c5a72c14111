/// The names that are taken in classes that are generated.
package enum ReservedNames {
    /// The properties that every managed object has, and that a generated one would have to override.
    package static let properties: Set<String> = [
        "classForCoder", "classForKeyedArchiver", "debugDescription", "description", "entity", "faultingState",
        "hasChanges", "hasPersistentChangedValues", "hash", "hashValue", "isDeleted", "isFault", "isInserted",
        "isUpdated", "managedObjectContext", "missingExternalData", "objectID", "observationInfo",
    ]

    /// The names by which the generated code means something outside the class.
    static let calls: Set<String> = [
        "_ManagedKeys", "managedAdd", "managedAnyValue", "managedInsert", "managedRemove", "managedReplace",
        "managedValue", "setManagedAnyValue", "setManagedValue",
    ]

    /// The types that the code of each generated class uses.
    static let types: Set<String> = [
        "Identifiable", "ManagedPropertyKey", "NSFetchRequest", "NSManagedObject", "_ManagedKeys",
    ]

    /// The types that the helpers of to-many relationships use.
    static let helperTypes: Set<String> = ["NSSet"]
    static let orderedHelperTypes: Set<String> = ["Int", "NSIndexSet", "NSOrderedSet"]
}
