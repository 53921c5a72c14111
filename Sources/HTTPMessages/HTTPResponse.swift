import Foundation

/// An answer, as a value.
public struct HTTPResponse: Sendable {
    /// What is sent.
    public enum Body: Sendable {
        /// All of it, at hand.
        case data(Data)
        /// Piece by piece, made while it is sent.
        case stream(any HTTPStream)
    }

    /// The status code.
    public var status: Int
    /// The headers, in order.
    public var headers: [Header]
    /// What is sent.
    public var body: Body

    /// A header.
    public struct Header: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: String

        /// Creates a header. Line ends would begin another one, and are left out.
        ///
        /// - Parameters:
        ///   - name: its name.
        ///   - value: its value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = String(
                String.UnicodeScalarView(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
        }
    }

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - type: the content's type.
    ///   - body: what is sent.
    public init(status: Int = 200, type: String, body: Body) {
        self.status = status
        self.body = body
        headers = [Header("Content-Type", type)]
    }

    /// A page.
    ///
    /// - Parameters:
    ///   - html: its text.
    ///   - status: the status code.
    public init(_ html: HTML, status: Int = 200) {
        self.init(status: status, type: "text/html; charset=utf-8", body: .data(Data(html.text.utf8)))
    }

    /// Text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - type: the content's type.
    ///   - status: the status code.
    public init(text: String, type: String = "text/plain; charset=utf-8", status: Int = 200) {
        self.init(status: status, type: type, body: .data(Data(text.utf8)))
    }

    /// Leads to another page, which is asked for with `GET`.
    ///
    /// - Parameter address: where to.
    public init(seeOther address: String) {
        self.init(status: 303, type: "text/plain; charset=utf-8", body: .data(Data()))
        headers.append(Header("Location", address))
    }

    /// All of the body that is at hand, as text; what tests read.
    public var text: String {
        guard case .data(let data) = body else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// The value of a header; nil where there is none.
    ///
    /// - Parameter name: the header's name, as it was given.
    public subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Content that is made while it is sent. One thread at a time asks it.
public protocol HTTPStream: Sendable {
    /// The next piece, which may be waited for.
    ///
    /// - Returns: nil at the end.
    /// - Throws: the reason why there is no more; the connection breaks off, so that the reader notices.
    func next() throws -> Data?
    /// Nobody reads on: whoever waits in `next()` must not wait longer.
    func cancel()
}
