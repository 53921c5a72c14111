import PostgresConnection
import PostgresServer
import Testing

@Suite("Statements that are kept prepared", .needsPostgres)
struct PreparedStatementTests {
    let database: TestDatabase
    let connection: PostgresConnection

    init() throws {
        database = try TestDatabase()
        connection = try database.connect()
    }

    private func fill(_ numbers: Range<Int>) throws {
        for number in numbers { try connection.query("SELECT \(number) AS filler") }
    }

    @Test("are there for a pipeline that also has new ones, however many there are")
    func pipeline() throws {
        try connection.query("SELECT 1 AS first")
        // With it as many as are kept: the oldest make room for the new one.
        try fill(1..<256)
        let results = try connection.pipeline([.init("SELECT 1 AS first"), .init("SELECT 2 AS new")])
        #expect(results.map { $0.integer(0, 0) } == [1, 2])
        #expect(try connection.query("SELECT 2 AS new").integer(0, 0) == 2)
    }

    @Test("are logged each time that they are sent, by themselves or in a pipeline")
    func log() throws {
        var texts: [String] = []
        connection.statementLog = { texts.append($0) }
        for _ in 0..<2 { try connection.query("SELECT 1 AS one") }
        _ = try connection.pipeline([.init("SELECT 1 AS one"), .init("SELECT 2 AS two")])
        #expect(texts == ["SELECT 1 AS one", "SELECT 1 AS one", "SELECT 1 AS one", "SELECT 2 AS two"])
    }

    @Test("have names that no other connection uses, as a pool may give its session to another program")
    func names() throws {
        let connections = [connection, try database.connect()]
        let names = try connections.map { connection in
            try connection.query("SELECT 1 AS first")
            return try connection.query("SELECT name FROM pg_prepared_statements LIMIT 1").string(0, 0)
        }
        #expect(names[0] != names[1])
    }

    @Test("are not taken for prepared when room for them could not be made")
    func failingRoom() throws {
        try fill(0..<256)
        try connection.begin()
        #expect(throws: PostgresError.self) { try connection.execute("nonsense") }
        // In a failed transaction, nothing can be dropped or prepared.
        #expect(throws: PostgresError.self) { try connection.query("SELECT 3 AS later") }
        #expect(throws: PostgresError.self) { _ = try connection.pipeline([.init("SELECT 3 AS later")]) }
        try connection.rollback()
        #expect(try connection.query("SELECT 3 AS later").integer(0, 0) == 3)
        #expect(try connection.pipeline([.init("SELECT 4 AS last")])[0].integer(0, 0) == 4)
    }

    @Test("What the library does not send is not a lost connection, and the next statement works")
    func refusals() throws {
        var parameters = PostgresParameters()
        for number in 0..<70_000 { parameters.append(Int64(number)) }
        for attempt in [
            { _ = try connection.query("SELECT 1", parameters) },
            { _ = try connection.queryOnce("SELECT 1", parameters) },
            { _ = try connection.pipeline([.init("SELECT 5 AS before"), .init("SELECT 1", parameters)]) },
        ] {
            let error = #expect(throws: PostgresError.self) { try attempt() }
            #expect(error?.isConnectionFailure == false, "\(String(describing: error))")
            #expect(try connection.query("SELECT 6 AS after").integer(0, 0) == 6)
            #expect(try connection.pipeline([.init("SELECT 7 AS again")])[0].integer(0, 0) == 7)
        }
    }

    @Test("A list of ports that does not fit the hosts is an error of the connection")
    func ports() {
        let targets = ConnectionTarget("host=/nowhere,/nowhere,/nowhere port=1,2").eachHost
        #expect(targets.count == 3)
        for target in targets { #expect(throws: PostgresError.self) { _ = try PostgresConnection(target) } }
    }
}
