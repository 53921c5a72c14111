/// The functions that a store registers with SQLite. Those called by triggers of derived attributes have the same names
/// as in Apple's stores.
package enum SQLFunctionName {
    package static let now = "NSCoreDataNow"
    package static let uppercase = "NSCoreDataToUpper"
    package static let lowercase = "NSCoreDataToLower"
    package static let canonical = "NSCoreDataCanonical"
    /// `NSCoreDataStringSearch(left, right, operator, options)`: 1, 0, or NULL if one side is NULL.
    package static let stringSearch = "NSCoreDataStringSearch"
    /// `PippinFolded(text, options)`: the text without the differences that the options ignore; NULL if it is not text.
    package static let folded = "PippinFolded"
    /// Called by triggers for each value that they change: table, `Z_ENT`, `Z_PK`, property, value.
    package static let valueUpdated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    /// Called by the triggers of some of Apple's programs, such as those that count a person's faces in Photos: table,
    /// `Z_ENT`, `Z_PK`, column, value.
    package static let columnUpdated = "NSCoreDataTriggerUpdateAffectedObjectValue"
    /// `PippinWholeNumber(value, type, name)`: the value, if a column of an integer type can hold it; otherwise the
    /// statement fails.
    package static let wholeNumber = "PippinWholeNumber"
    /// The sum of a group of decimals: see ``DecimalSum``.
    package static let decimalSum = "PippinDecimalSum"
    /// The content of a value that may lie in a file beside the store. Only migrations and batch updates register it.
    package static let fileContent = "PippinExternalContent"
    /// The bytes of a column with external storage, with the content of the file that they name. Only a migration
    /// registers it.
    package static let inlinedContent = "PippinInlinedContent"
    /// The history's mask of changed properties, converted to a new model's properties: entity number, mask; or, if
    /// objects of one entity become those of several, entity number, the new entity's number, mask. Only migrations
    /// register it.
    package static let changedProperties = "PippinChangedColumns"
    /// The value at a path in nested JSON: JSON, path as a JSON array, result type. Only migrations register it.
    package static let nestedValue = "PippinNestedValue"
    /// Whether nested JSON has other parts than some: JSON, the parts as JSON. Only comparing a store with a program's
    /// models registers it.
    package static let hasOtherParts = "PippinHasOtherParts"
    /// `FROM PippinListed(json, kind)`: the single values of a list, each in a row as `value`.
    package static let listed = "PippinListed"
    /// `PippinSearch(query, text, …)`: whether texts have what is searched for.
    package static let search = "PippinSearch"
    /// `FROM PippinKeys(bytes)`: the keys of many objects, each in a row as `value`.
    package static let keys = "PippinKeys"
    /// A column's bytes that refer to a file, with the file's name in a copy. Only copying a store registers it.
    package static let renamedFile = "PippinRenamedFile"
    package static let valueInserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
}

/// The collations that a store registers with SQLite.
package enum SQLCollationName {
    package static let caseInsensitive = "NSCollateNoCase"
    package static let localized = "NSCollateLocaleSensitive"
    package static let localizedCaseInsensitive = "NSCollateLocaleSensitiveNoCase"
    package static let localizedStandard = "NSCollateFinderlike"
}
