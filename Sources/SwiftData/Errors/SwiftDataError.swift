import Foundation

/// What SwiftData refuses.
///
/// Errors of one kind are equal, whatever they were thrown for: `catch SwiftDataError.unsupportedPredicate`.
public struct SwiftDataError: Error, Hashable {
    private enum Kind: String, Sendable {
        case includePendingChangesWithBatchSize, unsupportedPredicate, unsupportedKeyPath
        case sortingPendingChangesWithIdentifiers, unsupportedSortDescriptor, duplicateConfiguration
        case configurationFileNameTooLong, configurationFileNameContainsInvalidCharacters
        case configurationSchemaNotFoundInContainerSchema, loadIssueModelContainer, modelValidationFailure
        case missingModelContext, backwardMigration, unknownSchema, historyTokenExpired
        case invalidTransactionFetchRequest
    }

    private let kind: Kind
    /// What it was thrown for, and what to do; nil for the kind alone.
    private let reason: String?

    private init(_ kind: Kind, reason: String? = nil) { (self.kind, self.reason) = (kind, reason) }

    /// The error with the reason for this time.
    ///
    /// - Parameter reason: the thing, what was expected, and what to do.
    /// - Returns: the error.
    func because(_ reason: String) -> SwiftDataError { SwiftDataError(kind, reason: reason) }

    /// Whether both are of one kind.
    ///
    /// - Parameters:
    ///   - lhs: an error.
    ///   - rhs: another one.
    /// - Returns: `true` if they are.
    public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs.kind == rhs.kind }

    /// Hashes the kind.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// Whether an error is of a kind, for `catch`.
    ///
    /// - Parameters:
    ///   - lhs: the kind.
    ///   - rhs: the error.
    /// - Returns: `true` if it is.
    public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool { (rhs as? SwiftDataError) == lhs }

    /// A fetch in batches was asked to include unsaved changes.
    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    /// A predicate has no equivalent that a store evaluates.
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    /// A key path does not lead to a persisted property.
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    /// Identifiers were asked for in an order together with unsaved changes.
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    /// A sort descriptor has no equivalent that a store sorts by.
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
    /// Two configurations of a container have one location.
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    /// A configuration's name is too long for a file.
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    /// A configuration's name has characters that a file's name cannot have.
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters)
    /// A configuration's schema has models that the container's does not have.
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema)
    /// A container's store could not be opened.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
    /// A model has values that its schema does not allow.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    /// A model is used that belongs to no context.
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    /// A migration would lead to an earlier version of the schema.
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    /// A store has a version of the schema that the migration plan does not name.
    public static let unknownSchema = SwiftDataError(.unknownSchema)
    /// The history after a token was deleted.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    /// A request for the history cannot be expressed.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)
}

extension SwiftDataError: LocalizedError, CustomStringConvertible {
    /// The kind, and what it was thrown for.
    public var description: String { "SwiftDataError.\(kind.rawValue)\(reason.map { ": \($0)" } ?? "")" }

    /// The kind, and what it was thrown for.
    public var errorDescription: String? { description }
}
