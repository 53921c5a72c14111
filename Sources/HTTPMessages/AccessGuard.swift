import Foundation

/// Decides from a request's head alone whether it is answered.
///
/// The pages are for the person who has seen the printed address. Its first part is a secret, so that neither another
/// user of the machine nor a page from elsewhere in the same browser can ask for anything. A page from elsewhere whose
/// own name was made to resolve to this machine (DNS rebinding) has that name in `Host`; a page that sends forms here
/// has its own address in `Origin`.
public struct AccessGuard: Sendable {
    /// The secret, in the printed address.
    public let token: String
    /// The port that the server listens on.
    public let port: Int

    /// - Parameters:
    ///   - token: the secret.
    ///   - port: the port that the server listens on.
    public init(token: String, port: Int) {
        self.token = token
        self.port = port
    }

    /// A secret of 130 bits.
    public static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
        return String((0..<26).map { _ in digits[Int(generator.next() & 31)] })
    }

    /// The address to print.
    public var address: String { "http://127.0.0.1:\(port)/\(token)/" }

    /// The response to a request that is refused.
    public struct Refusal: Error, Equatable {
        /// The status code.
        public let status: Int
        /// One sentence.
        public let reason: String
    }

    /// Checks a request.
    ///
    /// - Parameter request: the request; its body is not looked at.
    /// - Returns: the request, without the secret in its path.
    /// - Throws: ``Refusal`` with the status 421 for another host, 405 for another method, and 403 for a page from
    ///   elsewhere, a `POST` without `Origin` or a wrong secret.
    public func admit(_ request: HTTPRequest) throws -> HTTPRequest {
        guard let host = request.headers["host"], hosts.contains(host.lowercased()) else {
            throw Refusal(status: 421, reason: "This server answers to 127.0.0.1 and localhost only.")
        }
        if let origin = request.headers["origin"], !hosts.contains(where: { "http://\($0)" == origin.lowercased() }) {
            throw Refusal(status: 403, reason: "Requests of pages from elsewhere are not answered.")
        }
        let site = request.headers["sec-fetch-site"]
        let isNavigation = request.method == "GET" && request.headers["sec-fetch-mode"] == "navigate"
        if let site, !["same-origin", "none"].contains(site), !isNavigation {
            throw Refusal(status: 403, reason: "Requests of pages from elsewhere are not answered.")
        }
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            throw Refusal(status: 405, reason: "Only GET, HEAD and POST are answered.")
        }
        if request.method == "POST", request.headers["origin"] == nil {
            throw Refusal(status: 403, reason: "A request that changes something must say where it comes from.")
        }
        guard let given = request.path.first, Self.isEqual(given, token) else {
            throw Refusal(status: 403, reason: "Open the address that was printed: it has a secret in it.")
        }
        var admitted = request
        admitted.path.removeFirst()
        return admitted
    }

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// Compares in a time that does not depend on where the texts differ.
    static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The security headers of every response: the page may load only this server's own style sheet, script and
    /// pictures, may not be framed, and is not cached.
    public static let headers: [HTTPResponse.Header] = [
        .init(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
                + "frame-ancestors 'none'; base-uri 'none'"),
        .init("X-Content-Type-Options", "nosniff"),
        .init("X-Frame-Options", "DENY"),
        .init("Referrer-Policy", "same-origin"),
        .init("Cross-Origin-Resource-Policy", "same-origin"),
        .init("Cross-Origin-Opener-Policy", "same-origin"),
        .init("Cache-Control", "no-store"),
    ]
}
