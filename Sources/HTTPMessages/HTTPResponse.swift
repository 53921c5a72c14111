import Foundation

/// A response, as a value.
public struct HTTPResponse: Sendable {
    /// The content of a response.
    public enum Body: Sendable {
        /// The whole content.
        case data(Data)
        /// Content that is made while it is sent.
        case stream(any HTTPStream)
    }

    /// The status code.
    public var status: Int
    /// The headers, in order.
    public var headers: [Header]
    /// The content.
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

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - type: the content's type.
    ///   - body: the content.
    public init(status: Int = 200, type: String, body: Body) {
        self.status = status
        self.body = body
        headers = [Header("Content-Type", type)]
    }

    /// Creates a response with a page.
    ///
    /// - Parameters:
    ///   - html: the page.
    ///   - status: the status code.
    public init(_ html: HTML, status: Int = 200) {
        self.init(status: status, type: "text/html; charset=utf-8", body: .data(Data(html.text.utf8)))
    }

    /// Creates a response with text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - type: the content's type.
    ///   - status: the status code.
    public init(text: String, type: String = "text/plain; charset=utf-8", status: Int = 200) {
        self.init(status: status, type: type, body: .data(Data(text.utf8)))
    }

    /// Redirects to another page, which the browser requests with `GET`.
    ///
    /// - Parameter address: the address of the page.
    public init(seeOther address: String) {
        self.init(status: 303, type: "text/plain; charset=utf-8", body: .data(Data()))
        headers.append(Header("Location", address))
    }

    /// The value of a header; nil where there is none.
    ///
    /// - Parameter name: the header's name, as it was given.
    public subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Content that is made while it is sent. One thread at a time calls `next()`.
public protocol HTTPStream: Sendable {
    /// The next part; waits until there is one.
    ///
    /// - Returns: nil at the end.
    /// - Throws: an error that ends the content early; the connection is closed, so that the client detects it.
    func next() throws -> Data?
    /// Ends the stream, which is not read further: a thread that waits in `next()` returns at once.
    func cancel()
}
