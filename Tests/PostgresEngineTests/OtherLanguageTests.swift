import FaultProxy
import Foundation
import PostgresConnection
import Testing

/// Refuses each connection with one error, as a server does whose `lc_messages` is not English.
private final class RefusingServer: Sendable {
    let folder: String
    private let proxy: FaultProxy

    init(state: String, message: String) throws {
        var template = Array("/tmp/pippin-refusing-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        proxy = try FaultProxy(listeningAt: .file("\(folder)/.s.PGSQL.5432"), to: .file("/nowhere"))
        proxy.set(.answers(state: state, message: message))
    }

    deinit {
        proxy.close()
        try? FileManager.default.removeItem(atPath: folder)
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
            ("53100", "kein Platz mehr auf dem Gerät", true), ("XX000", "could not write init file", true),
            ("58030", "could not read file \"base/5/2601\"", true),
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
