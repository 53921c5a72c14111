import PostgresConnection
import PostgresServer
import Testing

@Suite("Rows that COPY sends", .needsPostgres)
struct CopiedRowsTests {
    let database: TestDatabase
    let connection: PostgresConnection

    init() throws {
        database = try TestDatabase()
        connection = try database.connect()
    }

    private func numbers(_ rows: CopiedRows) throws -> [Int64] {
        var numbers: [Int64] = []
        try rows.forEachRow { row in
            numbers.append(rows.integer(row, 0))
            return true
        }
        return numbers
    }

    @Test("have the values of the query, and none where it has none")
    func values() throws {
        let rows = try CopiedRows(
            "VALUES (1::smallint, 'größe'::text, 2.5::float8, true, NULL::text, ''::text, '\\x00ff'::bytea)", connection
        )
        var count = 0
        try rows.forEachRow { row in
            #expect(rows.integer(row, 0) == 1)
            #expect(rows.string(row, 1) == "größe")
            #expect(rows.double(row, 2) == 2.5)
            #expect(rows.integer(row, 3) == 1)
            #expect(rows.isNull(row, 4))
            #expect(!rows.isNull(row, 5))
            #expect(rows.string(row, 5).isEmpty)
            #expect(Array(rows.data(row, 6)) == [0, 255])
            // There is no such column.
            #expect(rows.isNull(row, 7))
            #expect(rows.raw(row, 7).isEmpty)
            count += 1
            return true
        }
        #expect(count == 1)
        #expect(rows.count == 1)
        #expect(try numbers(CopiedRows("SELECT 1 WHERE false", connection)).isEmpty)
    }

    @Test("come in the order of the query, all of them, also when they were received before any was read")
    func all() throws {
        let query = "SELECT generate_series(1, 20000)"
        #expect(try numbers(CopiedRows(query, connection)) == Array(1...20_000))
        let rows = try CopiedRows(query, connection)
        try rows.receiveAll()
        #expect(!connection.isInTransaction)
        #expect(try numbers(rows) == Array(1...20_000))
    }

    @Test("wait in memory where the connection is used in between", arguments: [false, true])
    func inBetween(inTransaction: Bool) throws {
        if inTransaction { try connection.begin() }
        let rows = try CopiedRows("SELECT generate_series(1, 20000)", connection)
        var numbers: [Int64] = []
        try rows.forEachRow { row in
            numbers.append(rows.integer(row, 0))
            if numbers.count == 10 {
                #expect(connection.isInTransaction == inTransaction)
                let seven = try connection.query("SELECT 7").integer(0, 0)
                #expect(seven == 7)
            }
            return true
        }
        #expect(numbers == Array(1...20_000))
        #expect(connection.isInTransaction == inTransaction)
    }

    @Test("end where nobody wants more, and a transaction around them goes on", arguments: [false, true])
    func stop(inTransaction: Bool) throws {
        if inTransaction {
            try connection.begin()
            try connection.execute("CREATE TABLE kept AS SELECT 1 AS a")
        }
        let rows = try CopiedRows("SELECT generate_series(1, 100000000)", connection)
        var count = 0
        try rows.forEachRow { _ in
            count += 1
            return count < 10
        }
        #expect(count == 10)
        // Those that nobody has read at all, too.
        _ = try CopiedRows("SELECT generate_series(1, 100000000)", connection)
        #expect(try connection.query("SELECT 7").integer(0, 0) == 7)
        guard inTransaction else { return }
        try connection.commit()
        #expect(try connection.query("SELECT a FROM kept").integer(0, 0) == 1)
    }

    @Test(
        "are an error if the query fails at once or for a row, and a transaction around them goes on",
        arguments: [false, true])
    func failing(inTransaction: Bool) throws {
        if inTransaction { try connection.begin() }
        let unknown = #expect(throws: PostgresError.self) { _ = try CopiedRows("SELECT a FROM nowhere", connection) }
        #expect(unknown?.isMissingTable == true)
        #expect(throws: PostgresError.self) { _ = try CopiedRows("SELECT 1) TO STDOUT; SELECT (1", connection) }
        let rows = try CopiedRows("SELECT 1 / (5000 - n) FROM generate_series(1, 20000) n", connection)
        var count = 0
        let failure = #expect(throws: PostgresError.self) {
            try rows.forEachRow { _ in
                count += 1
                return true
            }
        }
        #expect(failure?.isDataError == true)
        #expect(count == 4999)
        let received = try CopiedRows("SELECT 1 / (5000 - n) FROM generate_series(1, 20000) n", connection)
        #expect(throws: PostgresError.self) { try received.receiveAll() }
        #expect(try connection.query("SELECT 7").integer(0, 0) == 7)
        #expect(connection.isInTransaction == inTransaction)
    }
}
