/// The functions that a store registers with SQLite. Those that triggers of derived attributes call have the names that
/// Apple's stores carry.
package enum SQLFunctionName {
    package static let now = "NSCoreDataNow"
    package static let uppercase = "NSCoreDataToUpper"
    package static let lowercase = "NSCoreDataToLower"
    package static let canonical = "NSCoreDataCanonical"
    /// `NSCoreDataStringSearch(left, right, operator, options)`: 1, 0, or NULL when a side is.
    package static let stringSearch = "NSCoreDataStringSearch"
    /// Called by triggers for each value that they change: table, `Z_ENT`, `Z_PK`, property, value.
    package static let valueUpdated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    /// `PippinWholeNumber(value, type, name)`: the value, unless a column of a type of integers cannot hold it; that fails the statement.
    package static let wholeNumber = "PippinWholeNumber"
    /// The sum of a group of decimals: see ``DecimalSum``.
    package static let decimalSum = "PippinDecimalSum"
    /// The content of a value that may lie in a file beside the store. Only a migration registers it.
    package static let fileContent = "PippinExternalContent"
    /// The history's mask of changed properties, for a new model's properties: entity number, mask. Only a migration registers it.
    package static let changedProperties = "PippinChangedColumns"
    /// What nested JSON has at a path: JSON, path as a JSON array, what to make of it. Only a migration registers it.
    package static let nestedValue = "PippinNestedValue"
    package static let valueInserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
}

/// The orders of texts that a store registers with SQLite.
package enum SQLCollationName {
    package static let caseInsensitive = "NSCollateNoCase"
    package static let localized = "NSCollateLocaleSensitive"
    package static let localizedCaseInsensitive = "NSCollateLocaleSensitiveNoCase"
    package static let localizedStandard = "NSCollateFinderlike"
}
