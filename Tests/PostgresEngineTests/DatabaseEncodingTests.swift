import CoreDataModel
import Foundation
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

@Suite("A database whose texts are not in UTF-8", .needsPostgres)
struct DatabaseEncodingTests {
    @Test("is refused, and the error says how to make one that is", arguments: ["SQL_ASCII", "LATIN1"])
    func refused(encoding: String) throws {
        let database = try TestDatabase()
        let name = "\(database.name)_\(encoding.lowercased())"
        let administrator = try database.connect()
        try administrator.execute(
            "CREATE DATABASE \(name) ENCODING '\(encoding)' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        defer { try? administrator.execute("DROP DATABASE \(name) WITH (FORCE)") }
        let url = try #require(URL(string: database.server.uri(database: name)))
        let engine = PostgresEngine(StoreFacts(url: url))
        let error = #expect(throws: NSError.self) { try engine.open(Notes.model) }
        #expect(error?.localizedDescription.contains(encoding) == true)
        #expect(error?.localizedRecoverySuggestion?.contains("ENCODING 'UTF8' TEMPLATE template0") == true)
        // Nothing is made there.
        #expect(throws: NSError.self) { try PostgresFormat.metadata(at: url, options: nil) }
    }
}
