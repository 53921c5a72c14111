import Foundation
import PostgresConnection

/// Identifies a save by its writer and number. The save's own transaction writes the mark to `pippin.writers`, so that
/// the mark is present wherever the save is.
package struct SaveMark: Hashable, Sendable {
    /// A writer saves through one connection after the other, one save at a time.
    package let writer: UUID
    /// The number of the writer's attempt to save.
    package let number: Int64

    package init(writer: UUID, number: Int64) { (self.writer, self.number) = (writer, number) }

    /// How long the question waits for a transaction that is still under way, in milliseconds; then it is asked again.
    private static let patience = 2000

    /// Claims an unused number, either for a save or to block it. Two transactions cannot have the same one: the second
    /// waits for the first, and then finds it taken.
    static func claim(_ schema: String, _ writer: String, _ number: String) -> String {
        """
        INSERT INTO pippin.writers AS w (schema_name, writer, number, is_saved, date) \
        VALUES (\(schema), \(writer), \(number), true, now()) \
        ON CONFLICT (schema_name, writer) DO UPDATE SET number = excluded.number, is_saved = true, date = now() \
        WHERE w.number < excluded.number RETURNING 1
        """
    }

    /// The same for a writer that has a row already, which is cheaper for the server. Returns no row if the writer has
    /// none.
    static func claimKnown(_ schema: String, _ writer: String, _ number: String) -> String {
        """
        UPDATE pippin.writers SET number = \(number), is_saved = true, date = now() \
        WHERE schema_name = \(schema) AND writer = \(writer) AND number < \(number) RETURNING 1
        """
    }

    /// Asks whether a save was committed. A save that is not there now can never be committed: its number is taken.
    ///
    /// The question always writes, so that the server answers only once the standbys that it waits for have the answer,
    /// too.
    private static let question = """
        INSERT INTO pippin.writers AS w (schema_name, writer, number, is_saved, date) VALUES ($1, $2, $3, false, now()) \
        ON CONFLICT (schema_name, writer) DO UPDATE SET number = greatest(w.number, excluded.number), \
        is_saved = w.is_saved AND w.number >= excluded.number, date = now() \
        RETURNING number, is_saved
        """

    /// Whether the save was committed; `nil` if the answer cannot be relied on.
    ///
    /// - Throws: the server's errors.
    func isSaved(in schema: String, _ connection: PostgresConnection) throws -> Bool? {
        var parameters = PostgresParameters()
        parameters.append(schema)
        parameters.append(writer)
        parameters.append(number)
        let warnings = connection.warningCount
        let results = try connection.pipeline([
            .init(PostgresConnection.TransactionKind.readWrite.rawValue),
            .init("SET LOCAL lock_timeout = \(Self.patience)"), .init(Self.question, parameters), .init("COMMIT"),
        ])
        let result = results[2]
        // A warning says that the server did not wait for its standbys.
        guard connection.warningCount == warnings, result.count == 1, result.integer(0, 0) == number else {
            return nil
        }
        return result.integer(0, 1) == 1
    }
}

/// A writer, and the mark of its latest attempt to save.
struct SaveWriter {
    private(set) var mark = SaveMark(writer: UUID(), number: 0)
    /// When its row was last known to be there, by its latest save.
    private var latest: ContinuousClock.Instant?

    /// Whether its row is certainly there: the rows of writers that have not saved for long may be deleted.
    var isKnown: Bool {
        get { latest.map { ContinuousClock.now - $0 < .seconds(3600) } ?? false }
        set { latest = newValue ? .now : nil }
    }

    /// The mark of the next attempt to save.
    mutating func next() -> SaveMark {
        mark = SaveMark(writer: mark.writer, number: mark.number + 1)
        return mark
    }

    /// Becomes a new writer, so that the outcome of the former one's saves can still be asked for at any time.
    mutating func renew() { (mark, latest) = (SaveMark(writer: UUID(), number: 0), nil) }
}

/// Key in an error's user info: the save whose outcome is unknown (``NSPostgreSQLUndecidedSave``).
public let NSPostgreSQLUndecidedSaveErrorKey = "NSPostgreSQLUndecidedSave"

/// A save whose connection was lost before the server answered to `COMMIT`, and whose outcome no server could be asked
/// for in time.
///
/// ```swift
/// do { try context.save() } catch {
///     if let save = NSPostgreSQLUndecidedSave(of: error) { later.append(save) }
/// }
/// // When the servers are back:
/// if try !save.wasSaved(at: url) { … }
/// ```
///
/// It can be kept in a file, and another process can ask for its outcome.
public struct NSPostgreSQLUndecidedSave: Codable, Hashable, Sendable {
    let schema: String
    let writer: UUID
    let number: Int64
    let date: Date

    /// How many days a store keeps the marks of saves.
    static let daysKept = 30

    init(_ mark: SaveMark, schema: String, date: Date = Date()) {
        (self.schema, writer, number, self.date) = (schema, mark.writer, mark.number, date)
    }

    /// Creates the save that an error is about.
    ///
    /// - Parameter error: an error of a save. The result is `nil` for an error about anything else, or about a store
    ///   that keeps no marks.
    public init?(of error: any Error) {
        var next: NSError? = error as NSError
        while let error = next {
            if let save = error.userInfo[NSPostgreSQLUndecidedSaveErrorKey] as? Self {
                self = save
                return
            }
            next = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return nil
    }
}
