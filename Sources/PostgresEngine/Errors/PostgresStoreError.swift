import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// The domain of errors that PostgreSQL reports.
public let NSPostgreSQLErrorDomain = "NSPostgreSQLErrorDomain"
/// In the user info of an error: the state that PostgreSQL reported, such as `23505`.
public let NSPostgreSQLStateErrorKey = "NSPostgreSQLState"

/// Errors of PostgreSQL as Core Data's errors: in the Cocoa domain, with the state under ``NSPostgreSQLStateErrorKey``.
package enum PostgresStoreError {
    /// The error for a failure while a store was used.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - fallback: Core Data's code for the failed operation, used if PostgreSQL's state says nothing more specific.
    ///   - work: the operation, for the message: "open the store".
    ///   - place: the location of the store.
    /// - Returns: an `NSError` in the Cocoa domain for an error of PostgreSQL; any other error stays as it is.
    package static func make(_ error: any Error, fallback: Int, work: String, place: StorePlace) -> any Error {
        if let error = error as? SaveUndone { return undone(error.cause, place: place) }
        guard let error = error as? PostgresError else { return error }
        let (code, reason, suggestion) = meaning(of: error, fallback: fallback, schema: place.schema)
        return StoreError.make(
            code, "Cannot \(work) “\(place.name)”: \(reason).", url: place.shownURL,
            suggestion: suggestion ?? error.hint,
            underlying: underlying(error),
            userInfo: [NSPostgreSQLStateErrorKey: error.state, StoreError.isOfStoreKey: !error.isOfValues])
    }

    private static func meaning(of error: PostgresError, fallback: Int, schema: String) -> (Int, String, String?) {
        if error.isWithoutConnection {
            return (
                CoreDataErrorCode.persistentStoreOpen, "the server has no connection left (\(error.message))",
                "Open fewer stores at once, put a pool such as PgBouncer before the server, or raise its limit."
            )
        }
        if error.isConnectionFailure, error.statement != nil {
            return (
                CoreDataErrorCode.persistentStoreOpen, "the connection to the server was lost (\(error.message))",
                "Try again. If it is lost again, see what the log of the server says, or that of a pool before it."
            )
        }
        if error.isForeignSession {
            return (
                fallback, "the server does not know what was prepared in this connection (\(error.message))",
                "Where a pool gives each transaction another session, open the store with NSPostgreSQLPooledOption."
            )
        }
        if error.refusesCopying {
            return (
                fallback, error.message,
                "Save objects in place of the batch insertion, or insert as a role without row-level security."
            )
        }
        if error.isConnectionFailure || error.state.hasPrefix("28") {
            return (
                CoreDataErrorCode.persistentStoreOpen,
                "the server cannot be reached, or lets nobody in (\(error.message))",
                error.isAboutCertificate
                    ? "See that the host's name is that of the server's certificate, and that sslmode and sslrootcert are right."
                    : "See that the server runs, and that host, database, user and password are right."
            )
        }
        if error.isMissingDatabase {
            return (CoreDataErrorCode.persistentStoreOpen, error.message, "Make the database first: createdb.")
        }
        if error.isCancelled {
            return (
                CoreDataErrorCode.persistentStoreTimeout, "the server gave the statement up (\(error.message))",
                "Try again; NSPostgreSQLStatementTimeoutOption or the server's statement_timeout may limit statements."
            )
        }
        if error.isLockTimeout || error.isRetryable {
            return (
                CoreDataErrorCode.persistentStoreTimeout, "another program was in the way (\(error.message))",
                "Try again, or give it more time with NSPersistentStoreTimeoutOption."
            )
        }
        if error.isOnStandby {
            return (
                CocoaError.Code.fileWriteNoPermission.rawValue, "the server accepts no writes (\(error.message))",
                "Connect to the server that does (target_session_attrs=read-write), or open the store for reading only. "
                    + "A role or a database may be the cause, too: see default_transaction_read_only."
            )
        }
        if error.isPermissionDenied {
            return (
                CocoaError.Code.fileWriteNoPermission.rawValue, error.message,
                error.hint ?? "Ask the database's owner for the right; the documentation names what a role needs."
            )
        }
        if error.state.hasPrefix("53") {
            return (
                CocoaError.Code.fileWriteOutOfSpace.rawValue, error.message, "Make room on the server, and try again."
            )
        }
        if error.isServerTrouble, error.statement == nil {
            return (
                CoreDataErrorCode.persistentStoreOpen, "the server lets nobody in (\(error.message))",
                "See what the log of the server says: its disk may be full, or a file damaged."
            )
        }
        if error.state == "54011" {
            return (
                fallback, "a table of PostgreSQL's has at most 1,600 columns (\(error.message))",
                "Subentities share the table of their parent: give some of them no parent, or move attributes to an "
                    + "entity of their own, to which a relationship leads."
            )
        }
        if error.isTooLargeForIndex {
            return (
                fallback, "a value is too large for an index (\(error.message))",
                "Take the property out of the indexes and constraints, or keep its values below 2,700 bytes."
            )
        }
        if error.isForeignKeyViolation {
            return (
                CoreDataErrorCode.managedObjectReferentialIntegrity,
                "an object would lead to one that is not there\(error.constraint.map { " (\($0))" } ?? "")", nil
            )
        }
        let advice = TableRule.advice(error, schema: schema)
        if advice == nil, error.isMissingTable || error.isMissingColumn {
            return (
                fallback, error.message,
                "The tables were changed by other means than a migration: change them back, or restore them from a backup."
            )
        }
        return (fallback, error.detail.map { "\(error.message) (\($0))" } ?? error.message, error.hint ?? advice)
    }

    private static func underlying(_ error: PostgresError) -> NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: error.message, NSPostgreSQLStateErrorKey: error.state,
        ]
        if let statement = error.statement { info["SQL"] = statement }
        if let table = error.table { info["table"] = table }
        if let constraint = error.constraint { info["constraint"] = constraint }
        if let hint = error.hint { info[NSLocalizedRecoverySuggestionErrorKey] = hint }
        return NSError(domain: NSPostgreSQLErrorDomain, code: 1, userInfo: info)
    }

    /// The connection was lost while the server was asked to commit, and no server could be asked for the outcome.
    static func uncertain(_ error: PostgresError, place: StorePlace, _ mark: SaveMark?) -> NSError {
        var info: [String: Any] = [
            StoreError.uncertaintyKey: true, NSPostgreSQLStateErrorKey: error.state, StoreError.isOfStoreKey: true,
        ]
        var suggestion = "Fetch what was to be saved, and look."
        if let mark {
            info[NSPostgreSQLUndecidedSaveErrorKey] = NSPostgreSQLUndecidedSave(mark, schema: place.schema)
            suggestion = "Ask later: NSPostgreSQLUndecidedSave(of: error)?.wasSaved(at: url)."
        }
        return StoreError.make(
            CoreDataErrorCode.persistentStoreSave,
            "Whether the save to “\(place.name)” came through is not known: the connection was lost before the server answered, "
                + "and no server could be asked within \(place.failover.deadline) (\(error.message)).",
            url: place.shownURL,
            suggestion: suggestion, underlying: underlying(error), userInfo: info)
    }

    /// The connection was lost, and it is known that nothing was saved.
    static func undone(_ error: PostgresError, place: StorePlace) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreSave,
            "Nothing was saved to “\(place.name)”: the connection was lost before the end (\(error.message)).",
            url: place.shownURL, suggestion: "Save again.", underlying: underlying(error),
            userInfo: [NSPostgreSQLStateErrorKey: error.state, StoreError.isOfStoreKey: true])
    }

    /// A generation is read whose store was removed or destroyed.
    static func endedGeneration(_ place: StorePlace) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The pinned state of “\(place.name)” is gone: the store was removed, or it was to be destroyed or replaced.",
            url: place.shownURL, suggestion: "Pin the state that the store has now.")
    }

    /// The store's model has entities that the program's does not have, and so other names for tables or columns.
    ///
    /// No migration follows from this code: it would drop these entities, for a program that ignores versions.
    static func otherNames(_ place: StorePlace, _ entities: [String]) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleSchema,
            "The store “\(place.name)” has entities that the model does not have, and with them other names for tables or columns of "
                + "\(entities.joined(separator: ", ")).", url: place.shownURL,
            suggestion: "Open it with the model that it has now.", userInfo: ["entities": entities])
    }

    /// Texts of the database are not in UTF-8.
    static func otherEncoding(_ place: StorePlace, _ encoding: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreOpen,
            "The database of “\(place.name)” has the encoding \(encoding), in which texts are compared and counted otherwise than in the program; "
                + "a store needs UTF8.", url: place.shownURL,
            suggestion: "Make another one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.")
    }

    /// A row that nobody has changed was neither updated nor deleted, or a new one was not inserted.
    static func notWritten(_ error: PostgresError?, _ place: StorePlace) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreSave,
            "Cannot save to “\(place.name)”: the server leaves out a row that was to be written, or deleted.",
            url: place.shownURL,
            suggestion: "Look at the triggers, rules and policies that others have added to the table.",
            underlying: error.map(underlying), userInfo: error.map { [NSPostgreSQLStateErrorKey: $0.state] } ?? [:])
    }

    static func readOnly(_ place: StorePlace) -> NSError {
        StoreError.make(
            CocoaError.Code.fileWriteNoPermission.rawValue,
            "Cannot save to “\(place.name)”, which is open for reading only.", url: place.shownURL)
    }
}

/// The connection was lost in a save of which nothing was committed, nor will be.
struct SaveUndone: Error {
    /// The error with which the connection was lost.
    let cause: PostgresError
}

/// What to do about errors of what others have put on a store's tables, or set in them.
enum TableRule {
    /// The advice for an error. Pure.
    ///
    /// - Parameters:
    ///   - error: the server's error.
    ///   - schema: the schema of the store's tables.
    /// - Returns: nil for an error that does not come from a table's constraints, sequence or triggers.
    static func advice(_ error: PostgresError, schema: String) -> String? {
        if error.isUniqueViolation, let table = error.table, error.constraint?.hasSuffix("_pkey") == true {
            let name = quotedName(QualifiedName.make(schema: schema, name: table))
            let key = ColumnName.key
            return "The sequence of the table's keys was set back, or rows have keys that it did not give. Set it: "
                + "SELECT setval(pg_get_serial_sequence(\(quotedText(name)), '\(key)'), max(\(key))) FROM \(name)."
        }
        if let constraint = error.constraint, let table = error.table {
            return "The constraint “\(constraint)” of the table “\(table)” forbids it: "
                + "save other values, or change what the constraint says."
        }
        if error.isNullInRequiredColumn, let column = error.column, let table = error.table {
            return "The column “\(column)” of the table “\(table)” needs a value, and the model has none for it: "
                + "give the column a default, or drop its NOT NULL."
        }
        guard let context = error.context, context.contains("PL/pgSQL") || context.contains("SQL function") else {
            return nil
        }
        let places = context.split(separator: "\n").joined(separator: "; ")
        return "A trigger that others have put on the table ended with this error: see \(places)."
    }
}

/// The store is no longer of the version that was last seen: another program has migrated or removed it. The engine
/// catches this, and looks at the store again.
struct StructureChange: Error {}
