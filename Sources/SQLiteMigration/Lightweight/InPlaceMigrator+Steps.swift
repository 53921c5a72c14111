import CoreDataModel
import Foundation
import MigrationPlans
import SQLiteConnection
import SQLiteEngine
import StoreEngine

// The steps of a migration in place, and what their failures mean.
extension InPlaceMigrator {
    func run(_ step: MigrationStep) throws {
        switch step {
        case .run(let sql): try file.connection.execute(sql)
        case .expectNone(let sql, let violation):
            let statement = try file.connection.prepare(sql)
            guard try statement.step() else { return }
            let value = statement.columnCount > 1 ? statement.optionalString(at: 1) : nil
            throw failure(
                violation.reason,
                underlying: MigrationError.violation(violation, key: statement.integer(at: 0), value: value),
                advice: MigrationError.advice(violation))
        case .create(let sql, let columns):
            do { try file.connection.execute(sql) } catch let error as SQLiteError where error.isInStatement {
                throw failure(
                    "columns of another program do not fit the new table",
                    underlying: NSError(
                        domain: NSSQLiteErrorDomain, code: Int(error.extendedCode),
                        userInfo: [
                            NSLocalizedDescriptionKey: "Columns that are not of the model do not fit the new table "
                                + "(\(columns)): \(error.message)."
                        ]),
                    advice: "Drop the column, or declare it for the new table, and migrate the store again.")
            }
        case .compile(let sql, let trigger):
            do { try file.connection.execute(sql) } catch let error as SQLiteError where error.isInStatement {
                throw failure(
                    "the trigger \(trigger) does not fit the new tables",
                    underlying: NSError(
                        domain: NSSQLiteErrorDomain, code: Int(error.extendedCode),
                        userInfo: [
                            NSLocalizedDescriptionKey: "The trigger “\(trigger)”, which is not of the model, does not "
                                + "fit the new tables: \(error.message)."
                        ]),
                    advice: "Drop the trigger, or write it for the new tables, and migrate the store again.")
            }
        }
    }

    /// The failure of a constraint: of the model's, which are unique values, or of one that another program has added.
    func refusal(_ error: SQLiteError) -> NSError {
        func cause(_ description: String) -> NSError {
            NSError(
                domain: NSSQLiteErrorDomain, code: Int(error.extendedCode),
                userInfo: [NSLocalizedDescriptionKey: description])
        }
        if error.isDuplicate {
            return failure(
                "constraint violation during attempted migration", code: NSMigrationConstraintViolationError,
                underlying: cause("Two objects have the same values (\(error.message))."),
                advice: "Make the values unique first, or write a mapping model for this step that does.")
        }
        return failure(
            "a constraint of another program does not accept the new values",
            underlying: cause(
                "A constraint or trigger that is not of the model does not accept the new values: \(error.message)."),
            advice: "Drop what refuses the values, or change it so that it accepts them, and migrate the store again.")
    }

    func failure(
        _ reason: String, code: Int = CoreDataErrorCode.migration, underlying: NSError, advice: String
    ) -> NSError {
        MigrationError.inPlace(
            url: file.url, from: MigrationError.version(source, sibling: destination),
            to: MigrationError.version(destination), reason: reason, code: code, underlying: underlying, advice: advice)
    }
}
