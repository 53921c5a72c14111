import CoreDataModel
import PredicateFormat

/// A function whose name or syntax depends on the database.
package enum SQLFunction: Sendable, Equatable {
    case now, uppercase, lowercase, canonical
    /// The average of a group, as a fraction.
    case average
    /// The sum of a group, which is a whole number if the group's numbers are.
    case sum(isWhole: Bool)
    /// The sum of a group of decimals, without rounding errors.
    case decimalSum
    /// `MIN` or `MAX` of a group. PostgreSQL has none for Booleans and UUIDs, so the dialect needs the storage.
    case extreme(isGreatest: Bool, of: ColumnStorage)
    /// Whether both arguments are numbers, both texts, or both bytes.
    case haveSameKind
    /// A text compared by its bytes, not by a language's collation.
    case orderedByBytes
    /// The first argument, unless it is NULL; then the second.
    case ifNull
    /// The first argument, which must be a whole number in the range of an attribute's type. Any other value fails the
    /// statement, with the attribute's name.
    case wholeNumber(NSAttributeType, name: String)
    /// Whether a column that allows external storage contains the name of a file instead of the value.
    case isInFile
    /// The value of a column that allows external storage, read from its file if it is in one.
    case fileContent
    /// The column's bytes with the content of the file that they name, and otherwise as they are: for a further column
    /// that takes a value, since a file belongs to one column.
    case inlinedContent
    /// The value with the leading byte that a column with external storage has (`X'01'`).
    case markedContent
    /// The history's mask of changed properties with the numbering of the new model, from an entity's number and a
    /// mask.
    case changedProperties
    /// The value at a path of nested JSON, as a column of the type has it, from the JSON's bytes.
    case nestedValue(path: [String], type: NestedType)

    /// The rows of the single values of a list, each as `value`, from the JSON's bytes: the table of a FROM clause.
    case listed(ListedKind)

    /// The type of a value in nested JSON.
    package enum NestedType: Sendable, Equatable {
        case attribute(NSAttributeType)
        case json
        case presence
    }

    /// The sum of a group of numbers in columns with the given storage.
    package static func sum(of storage: ColumnStorage?, isWhole: Bool) -> SQLFunction {
        storage == .decimal ? .decimalSum : .sum(isWhole: isWhole)
    }

    /// Whether SQLite knows the function only on connections that registered it, so that nothing in the file, such as
    /// an index, may depend on it.
    package var isRegisteredByPippin: Bool {
        switch self {
        case .ifNull, .average, .sum, .extreme, .isInFile, .markedContent, .haveSameKind, .orderedByBytes: false
        case .now, .uppercase, .lowercase, .canonical, .decimalSum, .wholeNumber, .fileContent, .inlinedContent,
            .changedProperties, .nestedValue, .listed:
            true
        }
    }
}
