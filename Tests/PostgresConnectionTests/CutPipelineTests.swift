import CPippinPQ
import Foundation
import PostgresServer
import Testing

@testable import PostgresConnection

@Suite("Several statements over a connection that is cut", .needsPostgres)
struct CutPipelineTests {
    @Test(
        "fail, and the connection is not used again, whichever direction is cut first",
        arguments: [SHUT_RD, SHUT_WR, SHUT_RDWR].map { Int32($0) }, [1, 2_000_000])
    func cut(direction: Int32, length: Int) throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        let requests = [
            PostgresConnection.Request("SELECT length('\(String(repeating: "x", count: length))')"),
            PostgresConnection.Request("SELECT 2"),
        ]
        #expect(try connection.pipeline(requests).count == 2)
        #expect(shutdown(PQsocket(connection.handle), direction) == 0)
        #expect(throws: PostgresError.self) { try connection.pipeline(requests) }
        #expect(!connection.isUsable)
    }
}
