import Dispatch
import FaultProxy
import Foundation
import PostgresConnection
import Testing

/// Refuses each connection with one error, as a server does whose `lc_messages` is not English.
private final class RefusingServer: Sendable {
    let folder: String
    private let listener: Int32
    /// Signalled once nobody accepts from the listener any more. Its number may belong to another server's after that.
    private let hasEnded = DispatchSemaphore(value: 0)

    init(state: String, message: String) throws {
        var template = Array("/tmp/pippin-refusing-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let listener = try SocketAddress.file("\(folder)/.s.PGSQL.5432").listen()
        self.listener = listener
        var fields: [UInt8] = []
        for field in ["SFATAL", "VFATAL", "C\(state)", "M\(message)"] { fields += Array(field.utf8) + [0] }
        fields.append(0)
        let size = UInt32(fields.count + 4).bigEndian
        let answer: [UInt8] = withUnsafeBytes(of: size) { [UInt8(ascii: "E")] + Array($0) + fields }
        Thread.detachNewThread { [hasEnded] in
            defer { hasEnded.signal() }
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                var request = [UInt8](repeating: 0, count: 4096)
                _ = read(client, &request, request.count)
                _ = write(client, answer, answer.count)
                close(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        hasEnded.wait()
        close(listener)
        unlink("\(folder)/.s.PGSQL.5432")
        rmdir(folder)
    }
}

@Suite("A server that answers in another language")
struct OtherLanguageTests {
    @Test(
        "refuses a connection with the state of its error, so that nobody waits in vain or gives up too early",
        arguments: [
            ("3D000", "Datenbank »nix« existiert nicht", false), ("28P01", "authentification échouée", false),
            ("28000", "Rolle »nix« existiert nicht", false), ("53300", "すでにクライアント数が多すぎます", true),
            ("57P03", "das Datenbanksystem startet", true), ("42501", "keine Berechtigung für Datenbank books", false),
        ])
    func states(state: String, message: String, isPassing: Bool) throws {
        let server = try RefusingServer(state: state, message: message)
        let error = withExtendedLifetime(server) {
            #expect(throws: PostgresError.self) {
                _ = try PostgresConnection(ConnectionTarget("host=\(server.folder) user=nix dbname=nix"))
            }
        }
        #expect(error?.state == state)
        #expect(error?.message.contains(message) == true)
        #expect(error?.isWorthLookingElsewhere == isPassing)
    }

    @Test("is not there where its socket is missing, which is no answer in any language")
    func missing() throws {
        let error = #expect(throws: PostgresError.self) {
            _ = try PostgresConnection(ConnectionTarget("host=/nowhere user=nix dbname=nix"))
        }
        #expect(error?.state == "08001")
    }
}
