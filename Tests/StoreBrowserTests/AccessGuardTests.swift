import HTTPMessages
import Testing

@Suite("Who gets in")
struct AccessGuardTests {
    private let accessGuard = AccessGuard(token: "abcdefghijklmnopqrstuvwxyz", port: 8080)

    private func status(
        _ headers: [String: String], method: String = "GET", path: String = "/abcdefghijklmnopqrstuvwxyz/"
    ) -> Int {
        do {
            _ = try accessGuard.admit(HTTPRequest(method, path, headers: headers))
            return 200
        } catch { return (error as? AccessGuard.Refusal)?.status ?? 0 }
    }

    @Test("Who asks this machine by its own name, with the secret, gets in; the secret is taken off the path")
    func admitted() throws {
        #expect(status(["host": "127.0.0.1:8080"]) == 200)
        #expect(status(["host": "LOCALHOST:8080"]) == 200)
        let request = try accessGuard.admit(
            HTTPRequest("GET", "/abcdefghijklmnopqrstuvwxyz/entity/Book", headers: ["host": "localhost:8080"]))
        #expect(request.path == ["entity", "Book"])
    }

    @Test(
        "Another name in Host is refused, as DNS rebinding has it",
        arguments: ["evil.example", "evil.example:8080", "127.0.0.1", "127.0.0.1:81", "127.0.0.1:8080, x", ""])
    func host(_ host: String) { #expect(status(["host": host]) == 421) }

    @Test(
        "A request that says it comes from elsewhere is refused",
        arguments: ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:81"])
    func origin(_ origin: String) {
        #expect(status(["host": "127.0.0.1:8080", "origin": origin]) == 403)
        #expect(status(["host": "127.0.0.1:8080", "origin": origin], method: "POST") == 403)
    }

    @Test("Fetch metadata of another site are refused, a link that somebody clicks is not")
    func site() {
        #expect(status(["host": "127.0.0.1:8080", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"]) == 403)
        #expect(status(["host": "127.0.0.1:8080", "sec-fetch-site": "same-site", "sec-fetch-mode": "cors"]) == 403)
        #expect(
            status(["host": "127.0.0.1:8080", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"]) == 200)
        #expect(status(["host": "127.0.0.1:8080", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"]) == 200)
    }

    @Test("What changes something says where it comes from; other methods than GET, HEAD and POST are refused")
    func methods() {
        #expect(status(["host": "127.0.0.1:8080"], method: "POST") == 403)
        #expect(status(["host": "127.0.0.1:8080", "origin": "http://127.0.0.1:8080"], method: "POST") == 200)
        #expect(status(["host": "127.0.0.1:8080", "origin": "http://127.0.0.1:8080"], method: "PUT") == 405)
        #expect(status(["host": "127.0.0.1:8080"], method: "OPTIONS") == 405)
    }

    @Test(
        "Without the secret nothing is answered",
        arguments: [
            "/", "/abcdefghijklmnopqrstuvwxy/", "/abcdefghijklmnopqrstuvwxyzz/", "/ABCDEFGHIJKLMNOPQRSTUVWXYZ/",
        ])
    func token(_ path: String) { #expect(status(["host": "127.0.0.1:8080"], path: path) == 403) }

    @Test("Secrets are long, and never the same")
    func secrets() {
        let tokens = (0..<100).map { _ in AccessGuard.makeToken() }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0.count == 26 })
    }
}
