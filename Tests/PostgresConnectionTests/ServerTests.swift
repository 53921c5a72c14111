import Foundation
import PostgresServer
import TestSupport
import Testing

@Suite("The server of the tests", .needsPostgres)
struct ServerTests {
    /// Whether a folder goes within some seconds.
    private func goes(_ folder: String) async throws -> Bool {
        try await eventually { !FileManager.default.fileExists(atPath: folder) }
    }

    @Test("is gone after it was stopped, and its folder with it")
    func stopped() async throws {
        let server = try PostgresServer()
        #expect(FileManager.default.fileExists(atPath: server.folder + "/data/postmaster.pid"))
        server.stop()
        #expect(try await goes(server.folder))
    }

    @Test("is gone after the process that started it was killed")
    func killed() async throws {
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let server = try PostgresServer()
            print("folder: \(server.folder)")
            fflush(nil)
            kill(getpid(), SIGKILL)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("folder: ") })
        #expect(try await goes(String(line.dropFirst("folder: ".count))))
    }
}
