import Foundation
import PostgresConnection
import PostgresServer
import Testing

@Suite("A connection to PostgreSQL", .needsPostgres)
struct PostgresConnectionTests {
    let database: TestDatabase
    let connection: PostgresConnection

    init() throws {
        database = try TestDatabase()
        connection = try database.connect()
    }

    @Test("sends and receives values of all types in binary form")
    func values() throws {
        let uuid = UUID()
        var parameters = PostgresParameters()
        parameters.append(Int16.min)
        parameters.append(Int32.max)
        parameters.append(Int64.min)
        parameters.append(-0.1)
        parameters.append("größe, 🍏, it's")
        parameters.append(true)
        parameters.append(Data([0, 255, 0]))
        parameters.append(uuid)
        parameters.append(Timestamp(microseconds: -1))
        parameters.append("")
        parameters.appendNull(.text)
        let result = try connection.query("SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11", parameters)
        #expect(result.count == 1)
        #expect(result.integer(0, 0) == -32768)
        #expect(result.integer(0, 1) == 2_147_483_647)
        #expect(result.integer(0, 2) == .min)
        #expect(result.double(0, 3) == -0.1)
        #expect(result.string(0, 4) == "größe, 🍏, it's")
        #expect(result.integer(0, 5) == 1)
        #expect(result.data(0, 6) == Data([0, 255, 0]))
        #expect(result.uuid(0, 7) == uuid)
        #expect(result.timestamp(0, 8) == Timestamp(microseconds: -1))
        #expect(result.string(0, 9) == "" && !result.isNull(0, 9))
        #expect(result.isNull(0, 10))
    }

    @Test(
        "keeps decimal numbers exactly",
        arguments: [
            "0", "1", "-1", "0.1", "-3.5", "12345678901234567890.123456789", "10000", "100000000", "0.0001", "0.00001",
            "99999999.99999999", "-0.000000000000000000000000000000000001", "123400000000",
        ])
    func numerics(text: String) throws {
        var parameters = PostgresParameters()
        parameters.append(Numeric(text))
        let result = try connection.query("SELECT $1, $1::text", parameters)
        #expect(result.numeric(0, 0)?.text == text)
        #expect(result.string(0, 1) == text)
        #expect(Numeric("1e5") == nil && Numeric("") == nil && Numeric("x") == nil)
    }

    @Test("sends arrays, with and without values in them")
    func arrays() throws {
        var parameters = PostgresParameters()
        parameters.append(array: [Int64(3), 1, 2])
        var texts = PostgresArray(.text)
        texts.append("a")
        texts.appendNull()
        texts.append("")
        parameters.append(texts)
        parameters.append(PostgresArray(.double))
        let result = try connection.query("SELECT a, b, cardinality($3) FROM unnest($1, $2) AS u(a, b)", parameters)
        #expect((0..<3).map { result.integer($0, 0) } == [3, 1, 2])
        #expect((0..<3).map { result.isNull($0, 1) ? "-" : result.string($0, 1) } == ["a", "-", ""])
        #expect(result.integer(0, 2) == 0)
    }

    @Test("says state, statement, table and constraint of what failed")
    func errors() throws {
        try connection.execute("CREATE TABLE car (plate text UNIQUE)")
        try connection.query("INSERT INTO car VALUES ('a')")
        let error = #expect(throws: PostgresError.self) { try connection.query("INSERT INTO car VALUES ('a')") }
        #expect(error?.isUniqueViolation == true)
        #expect(error?.table == "car")
        #expect(error?.constraint == "car_plate_key")
        #expect(error?.statement == "INSERT INTO car VALUES ('a')")
    }

    @Test("prepares a statement once, and again after its table has changed")
    func prepared() throws {
        try connection.execute("CREATE TABLE car (plate text)")
        _ = try connection.query("SELECT * FROM car")
        let before = connection.roundTrips
        _ = try connection.query("SELECT * FROM car")
        #expect(connection.roundTrips == before + 1)
        try connection.execute("ALTER TABLE car ADD COLUMN maker text")
        #expect(try connection.query("SELECT * FROM car").columnCount == 2)
    }

    @Test("leaves no statement on the server where it must not")
    func unprepared() throws {
        let connection = try PostgresConnection(ConnectionTarget(database.uri()), keepsStatements: false)
        var parameters = PostgresParameters()
        parameters.append(Int64(2))
        #expect(try connection.query("SELECT $1 + 1", parameters).integer(0, 0) == 3)
        #expect(try connection.pipeline([.init("SELECT $1", parameters), .init("SELECT 5")]).count == 2)
        #expect(try connection.query("SELECT count(*) FROM pg_prepared_statements").integer(0, 0) == 0)
    }

    @Test("sends independent statements in one round trip")
    func pipeline() throws {
        let requests = (1...20).map { PostgresConnection.Request("SELECT \($0)") }
        _ = try connection.pipeline(requests)
        let before = connection.roundTrips
        let results = try connection.pipeline(requests)
        #expect(results.map { $0.integer(0, 0) } == (1...20).map(Int64.init))
        #expect(connection.roundTrips == before + 1)
    }

    @Test("undoes a pipeline of which one statement fails, and goes on")
    func failingPipeline() throws {
        try connection.execute("CREATE TABLE car (plate text UNIQUE)")
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline([
                .init("INSERT INTO car VALUES ('a')"), .init("SELECT 1 / (SELECT count(*) - 1 FROM car)"),
                .init("INSERT INTO car VALUES ('b')"),
            ])
        }
        #expect(error?.state == "22012")
        #expect(try connection.query("SELECT count(*) FROM car").integer(0, 0) == 0)
    }

    @Test("copies rows into a table, or none of them")
    func copy() throws {
        try connection.execute("CREATE TABLE car (id bigint, plate text)")
        let count = try connection.copy("COPY car FROM STDIN (FORMAT binary)") { writer in
            for number in 1...100_000 {
                try writer.beginRow(2)
                writer.append(Int64(number))
                if number == 7 { writer.appendNull() } else { writer.append("car \(number)") }
            }
        }
        #expect(count == 100_000)
        #expect(
            try database.rows("SELECT * FROM car WHERE id BETWEEN 6 AND 8") == [
                ["6", "car 6"], ["7", "null"], ["8", "car 8"],
            ])
        struct Broken: Error {}
        #expect(throws: Broken.self) {
            try connection.copy("COPY car FROM STDIN (FORMAT binary)") { writer in
                try writer.beginRow(2)
                throw Broken()
            }
        }
        #expect(try connection.query("SELECT count(*) FROM car").integer(0, 0) == 100_000)
    }

    @Test("hands out rows as they arrive, until it is told to stop")
    func streaming() throws {
        var sum: Int64 = 0
        try connection.forEachRow("SELECT * FROM generate_series(1, 1000)") { row in
            sum += row.integer(0, 0)
            return true
        }
        #expect(sum == 500_500)
        var read = 0
        try connection.forEachRow("SELECT generate_series(1, 100000000)") { _ in
            read += 1
            return read < 10
        }
        #expect(read == 10)
        #expect(try connection.query("SELECT 1").integer(0, 0) == 1)
    }

    @Test("can be stopped from another thread")
    func cancellation() throws {
        let cancellation = connection.cancellation()
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.2)
            cancellation.cancel()
        }
        let error = #expect(throws: PostgresError.self) { try connection.query("SELECT pg_sleep(30)") }
        #expect(error?.isCancelled == true)
    }

    @Test("undoes a transaction that fails, or a part of it")
    func transactions() throws {
        struct Broken: Error {}
        try connection.execute("CREATE TABLE car (plate text)")
        try? connection.transaction {
            try connection.query("INSERT INTO car VALUES ('a')")
            throw Broken()
        }
        #expect(!connection.isInTransaction)
        try connection.transaction {
            try connection.query("INSERT INTO car VALUES ('b')")
            try? connection.part {
                try connection.query("INSERT INTO car VALUES ('c')")
                throw Broken()
            }
        }
        #expect(try database.rows("SELECT * FROM car") == [["b"]])
    }

    @Test("hears what others tell")
    func notifications() throws {
        try connection.execute("LISTEN news")
        let other = try database.connect()
        try other.execute("NOTIFY news, 'hello'")
        var input = pollfd(fd: connection.socket, events: Int16(POLLIN), revents: 0)
        _ = poll(&input, 1, 5000)
        let heard = try connection.notifications()
        #expect(heard == [PostgresNotification(channel: "news", payload: "hello", processID: other.processID)])
    }

    @Test(
        "never repeats a password",
        arguments: [
            "postgresql://app:secret@/nosuch?host=/nowhere", "host=/nowhere password=secret",
            "postgresql://app:secret@[::1/db",
            "postgresql://app:secret@h/db?bad", "password=secret host=", "postgresql://a:secret@h:99999/x",
            "postgresql://a:secret/secret@h/x",
        ])
    func passwords(text: String) throws {
        let target = ConnectionTarget(text)
        let error = #expect(throws: PostgresError.self) { _ = try PostgresConnection(target) }
        #expect(!"\(String(describing: error))".contains("secret"))
        #expect(!target.description.contains("secret"))
    }

    @Test("quotes any name and any text")
    func quoting() throws {
        for name in [
            "select", "A", "größe", "a\"b", "a'b", "a\\b", "x; DROP TABLE y; --", "a\u{0}b", "$1", "🍏 ",
            "a'\u{301}b\\\u{301}\"\u{301}",
        ] {
            let result = try connection.query("SELECT \(quotedText(name)) AS \(quotedName(name))")
            let plain = name.filter { $0 != "\u{0}" }
            #expect(result.columnName(0) == plain)
            #expect(result.string(0, 0) == plain)
        }
    }
}
