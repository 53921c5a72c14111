import SQLGeneration
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
    package static let valueInserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
}

/// The orders of texts that a store registers with SQLite.
package enum SQLCollationName {
    package static let caseInsensitive = "NSCollateNoCase"
    package static let localized = "NSCollateLocaleSensitive"
    package static let localizedCaseInsensitive = "NSCollateLocaleSensitiveNoCase"
    package static let localizedStandard = "NSCollateFinderlike"
}
