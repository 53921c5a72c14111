import PredicateFormat
import SQLGeneration
import Testing

@testable import PostgresEngine

@Suite("Lists that are kept as JSON, in PostgreSQL")
struct ListedRowsTests {
    private func rows(_ kind: ListedKind) -> SQLFragment { .call(.listed(kind), "t0.tags") }

    @Test("are rows of values in their type")
    func table() {
        #expect(
            rows(.integer).postgres.text
                == "(SELECT value::bigint AS value FROM json_array_elements_text(convert_from(t0.tags, 'UTF8')::json))")
        #expect(
            rows(.text).postgres.text == """
                (SELECT value COLLATE "C" AS value FROM json_array_elements_text(convert_from(t0.tags, 'UTF8')::json))
                """)
    }

    @Test("are compared as memory does, unless they are of dates, which have fewer digits there")
    func exact() {
        for kind in ListedKind.allCases { #expect(rows(kind).isExactInPostgres == (kind != .date), "\(kind)") }
    }
}
