import Foundation
import PostgresConnection

/// Which save of which writer: what stands in `pippin.writers` once the save is committed, written by its own transaction, so that it
/// is wherever the save is.
package struct SaveMark: Hashable, Sendable {
    /// Whoever saves by one connection after the other, one save at a time.
    package let writer: UUID
    /// Counts the writer's attempts to save.
    package let number: Int64

    package init(writer: UUID, number: Int64) { (self.writer, self.number) = (writer, number) }

    /// How long the question waits for a transaction that is under way still, in milliseconds; it is asked again then.
    private static let patience = 2000

    /// Claims a number that is not used yet, for a save or for nobody. Two transactions cannot have the same one: the second waits
    /// for the first, and then finds it taken.
    static func claim(_ schema: String, _ writer: String, _ number: String) -> String {
        """
        INSERT INTO pippin.writers AS w (schema_name, writer, number, is_saved, date) \
        VALUES (\(schema), \(writer), \(number), true, now()) \
        ON CONFLICT (schema_name, writer) DO UPDATE SET number = excluded.number, is_saved = true, date = now() \
        WHERE w.number < excluded.number RETURNING 1
        """
    }

    /// The same where the writer has a row: less to do for the server. Gives no row where there is none.
    static func claimKnown(_ schema: String, _ writer: String, _ number: String) -> String {
        """
        UPDATE pippin.writers SET number = \(number), is_saved = true, date = now() \
        WHERE schema_name = \(schema) AND writer = \(writer) AND number < \(number) RETURNING 1
        """
    }

    /// Asks what became of a save. One that is not there now can never be: its number is taken.
    ///
    /// It writes in each case, so that the server answers only when those that it waits for have what it says.
    private static let question = """
        INSERT INTO pippin.writers AS w (schema_name, writer, number, is_saved, date) VALUES ($1, $2, $3, false, now()) \
        ON CONFLICT (schema_name, writer) DO UPDATE SET number = greatest(w.number, excluded.number), \
        is_saved = w.is_saved AND w.number >= excluded.number, date = now() \
        RETURNING number, is_saved
        """

    /// Whether the save came through; `nil` where the answer cannot be relied on.
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

/// Whoever saves, and how often it has tried.
struct SaveWriter {
    private(set) var mark = SaveMark(writer: UUID(), number: 0)
    /// Since when its row is known to be there, by its latest save.
    private var latest: ContinuousClock.Instant?

    /// Whether its row is there for sure: rows of writers who have not saved for long may go.
    var isKnown: Bool {
        get { latest.map { ContinuousClock.now - $0 < .seconds(3600) } ?? false }
        set { latest = newValue ? .now : nil }
    }

    /// The mark of the next attempt to save.
    mutating func next() -> SaveMark {
        mark = SaveMark(writer: mark.writer, number: mark.number + 1)
        return mark
    }

    /// Becomes another one, so that what was asked of the former one can be asked again at any time.
    mutating func renew() { (mark, latest) = (SaveMark(writer: UUID(), number: 0), nil) }
}
