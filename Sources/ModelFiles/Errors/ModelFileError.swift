import Foundation

/// Why a model file cannot be read or written: the place, the defect, and what would be right.
package struct ModelFileError: Error, Equatable {
    package enum Kind: Equatable, Sendable {
        case missing
        /// The bytes are not a model file.
        case corrupt
        /// The file is readable; the model in it is wrong.
        case invalid
        case unwritable
    }

    /// A part of a model that is in no entity.
    package struct Part: Equatable, Sendable {
        /// The name of its element in a source, such as `configuration`.
        package var element: String
        package var name: String
    }

    package var kind: Kind
    package var entity: String?
    package var property: String?
    /// The part that is meant, if it is in no entity; the reason names it.
    package var part: Part?
    /// The line of a source file, from 1.
    package var line: Int?
    /// The defect and what would be right, as the end of a sentence.
    package var reason: String

    @inline(never)
    package init(
        _ kind: Kind = .invalid, entity: String? = nil, property: String? = nil, line: Int? = nil, reason: String
    ) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.line = line
        self.reason = reason
    }

    /// The error as Core Data throws it.
    package func nsError(file: URL?, underlying: (any Error)? = nil) -> NSError {
        var place = file.map { "“\($0.path)”" } ?? "The model"
        if let line { place += ", line \(line)" }
        if let entity { place += ", entity “\(entity)”" }
        if let property { place += ", property “\(property)”" }
        // The mark below a format string ends a message without a period.
        let end = reason.contains("\n") ? "" : "."
        var info: [String: Any] = [NSLocalizedDescriptionKey: "\(place): \(reason)\(end)"]
        if let file {
            info[NSFilePathErrorKey] = file.path
            info[NSURLErrorKey] = file
        }
        info["entity"] = entity
        info["property"] = property
        info["line"] = line
        info[NSUnderlyingErrorKey] = underlying
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    private var code: Int {
        switch kind {
        case .missing: CocoaError.fileReadNoSuchFile.rawValue
        case .corrupt: CocoaError.fileReadCorruptFile.rawValue
        case .invalid: CoreDataErrorCode.coreData
        case .unwritable: CocoaError.fileWriteUnknown.rawValue
        }
    }

    /// Runs a reader or writer of a file, and adds the file's name to its errors.
    package static func naming<Result>(_ file: URL?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw named(error, file) }
    }

    /// Separate from ``naming(_:_:)``, which is compiled for every type of result.
    @inline(never)
    private static func named(_ error: any Error, _ file: URL?) -> any Error {
        switch error {
        case let error as ModelFileError: return error.nsError(file: file)
        case let error as KeyedArchiveError:
            return ModelFileError(.corrupt, reason: withoutPeriod(error.description)).nsError(
                file: file, underlying: error)
        case let error as PropertyListError:
            return ModelFileError(.corrupt, reason: withoutPeriod(error.description)).nsError(
                file: file, underlying: error)
        default:
            let error = error as NSError
            guard error.userInfo[NSFilePathErrorKey] == nil else { return error }
            return ModelFileError(reason: withoutPeriod(error.localizedDescription)).nsError(
                file: file, underlying: error)
        }
    }

    static func withoutPeriod(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}

/// Core Data's error codes in the Cocoa domain. Their documented numbers appear only here: all public names refer to
/// these.
package enum CoreDataErrorCode {
    package static let managedObjectValidation = 1550
    package static let managedObjectConstraintValidation = 1551
    package static let validationMultipleErrors = 1560
    package static let validationMissingMandatoryProperty = 1570
    package static let validationRelationshipLacksMinimumCount = 1580
    package static let validationRelationshipExceedsMaximumCount = 1590
    package static let validationRelationshipDeniedDelete = 1600
    package static let validationNumberTooLarge = 1610
    package static let validationNumberTooSmall = 1620
    package static let validationDateTooLate = 1630
    package static let validationDateTooSoon = 1640
    package static let validationInvalidDate = 1650
    package static let validationStringTooLong = 1660
    package static let validationStringTooShort = 1670
    package static let validationStringPatternMatching = 1680
    package static let validationInvalidURI = 1690
    package static let managedObjectContextLocking = 132000
    package static let persistentStoreCoordinatorLocking = 132010
    package static let managedObjectReferentialIntegrity = 133000
    package static let managedObjectExternalRelationship = 133010
    package static let managedObjectMerge = 133020
    package static let managedObjectConstraintMerge = 133021
    package static let persistentStoreInvalidType = 134000
    package static let persistentStoreTypeMismatch = 134010
    package static let persistentStoreIncompatibleSchema = 134020
    package static let persistentStoreSave = 134030
    package static let persistentStoreIncompleteSave = 134040
    package static let persistentStoreSaveConflicts = 134050
    package static let coreData = 134060
    package static let persistentStoreOperation = 134070
    package static let persistentStoreOpen = 134080
    /// Core Data has no name for this one.
    package static let persistentStoreIsAdded = 134081
    package static let persistentStoreTimeout = 134090
    package static let persistentStoreUnsupportedRequestType = 134091
    package static let persistentStoreIncompatibleVersionHash = 134100
    package static let migration = 134110
    package static let migrationConstraintViolation = 134111
    package static let migrationCancelled = 134120
    package static let migrationMissingSourceModel = 134130
    package static let migrationMissingMappingModel = 134140
    package static let migrationManagerSourceStore = 134150
    package static let migrationManagerDestinationStore = 134160
    package static let entityMigrationPolicy = 134170
    package static let sqlite = 134180
    package static let inferredMappingModel = 134190
    package static let externalRecordImport = 134200
    package static let persistentHistoryTokenExpired = 134301
    package static let managedObjectModelReferenceNotFound = 134504
    package static let stagedMigrationFrameworkVersionMismatch = 134505
    package static let stagedMigrationBackwardMigration = 134506
}
