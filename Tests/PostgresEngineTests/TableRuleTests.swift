import PostgresConnection
import Testing

@testable import PostgresEngine

@Suite("Errors of what others have put on a store's tables")
struct TableRuleTests {
    private func error(_ state: String, _ change: (inout PostgresError) -> Void) -> PostgresError {
        var error = PostgresError(state: state, message: "refused")
        error.table = "book"
        change(&error)
        return error
    }

    @Test("A sequence that was set back is named, with the statement that sets it")
    func sequence() {
        let error = error("23505") { $0.constraint = "book_pkey" }
        #expect(
            TableRule.advice(error, schema: "shop") == """
                The sequence of the table's keys was set back, or rows have keys that it did not give. Set it: \
                SELECT setval(pg_get_serial_sequence('"shop"."book"', '_id'), max(_id)) FROM "shop"."book".
                """)
    }

    @Test("A constraint is named, with its table")
    func constraint() {
        let error = error("23514") { $0.constraint = "few_pages" }
        #expect(
            TableRule.advice(error, schema: "public") == """
                The constraint “few_pages” of the table “book” forbids it: save other values, or change what the constraint says.
                """)
    }

    @Test("A column is named that needs a value, and gets none")
    func column() {
        let error = error("23502") { $0.column = "shelf" }
        #expect(
            TableRule.advice(error, schema: "public") == """
                The column “shelf” of the table “book” needs a value, and the model has none for it: \
                give the column a default, or drop its NOT NULL.
                """)
    }

    @Test("A trigger's function is named")
    func trigger() {
        let error = error("42P01") {
            $0.context = "SQL statement \"…\"\nPL/pgSQL function audit() line 3 at SQL statement"
        }
        #expect(
            TableRule.advice(error, schema: "public") == """
                A trigger that others have put on the table ended with this error: see SQL statement "…"; \
                PL/pgSQL function audit() line 3 at SQL statement.
                """)
    }

    @Test("Nothing is said of a value that does not fit, also where the server names the line of a copy")
    func values() {
        #expect(TableRule.advice(error("22003") { $0.context = "COPY book, line 3" }, schema: "public") == nil)
    }
}

@Suite("A search for a server")
struct ServerSearchTests {
    private func connecting(_ message: String) -> PostgresError { PostgresError(state: "08001", message: message) }

    private let refused =
        "connection to server at \"db1\" (10.0.0.1), port 5432 failed: SSL error: certificate verify failed"

    @Test("does not wait where the certificate of each server is refused")
    func certificates() {
        let second = refused.replacing("db1", with: "db2")
        #expect(!connecting(refused).isWorthLookingElsewhere)
        #expect(!connecting(refused + "; " + second).isWorthLookingElsewhere)
    }

    @Test("waits where another server is away, which may come back")
    func away() {
        let away = "connection to server at \"db2\" (10.0.0.2), port 5432 failed: Connection refused"
        #expect(connecting(refused + "; " + away).isWorthLookingElsewhere)
        #expect(connecting(away).isWorthLookingElsewhere)
    }
}
