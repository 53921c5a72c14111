// What the page speaks of without showing it: stand-ins of the frameworks' protocols and types.
import Pippin

let copy = URL(fileURLWithPath: "old.sqlite")

// swift-service-lifecycle
protocol Service: Sendable {
    func run() async throws
}

func gracefulShutdown() async throws {}

// Vapor
protocol Content: Codable, Sendable {}

struct HTTPResponseStatus: Sendable {
    static let notFound = HTTPResponseStatus(statusCode: 404)
    let statusCode: Int
}

struct Abort: Error {
    init(_ status: HTTPResponseStatus, reason: String? = nil) {}
}

struct Request: Sendable {
    struct Parameters: Sendable {
        func get(_ name: String) -> String? { nil }
    }

    struct ContentContainer: Sendable {
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try JSONDecoder().decode(type, from: Data())
        }
    }

    let parameters = Parameters()
    let content = ContentContainer()
}

final class Application: Sendable {
    func get<Answer: Content>(_ path: String..., use: @escaping @Sendable (Request) async throws -> Answer) {}
    func post<Answer: Content>(_ path: String..., use: @escaping @Sendable (Request) async throws -> Answer) {}
}

// Hummingbird
protocol ResponseEncodable: Encodable, Sendable {}

struct HTTPError: Error {
    enum Status { case notFound }

    init(_ status: Status) {}
}

struct BasicRequestContext: Sendable {
    struct Parameters: Sendable {
        func require(_ name: String) throws -> String { name }
    }

    let parameters = Parameters()
}

final class Router<Context: Sendable>: Sendable {
    func get<Answer: ResponseEncodable>(
        _ path: String, use: @escaping @Sendable (Request, BasicRequestContext) async throws -> Answer
    ) {}
}

// swift-log
struct Logger: Sendable {
    init(label: String) {}
    func error(_ message: String, metadata: [String: String]? = nil) {}
}

// swift-metrics
final class Timer: Sendable {
    init(label: String) {}
    func recordNanoseconds(_ duration: Int64) {}
}

final class Counter: Sendable {
    init(label: String) {}
    func increment(by amount: Int64) {}
}

// swift-distributed-tracing
struct DefaultTracerClock {
    struct Timestamp {
        let nanosecondsSinceEpoch: UInt64
    }

    static var now: Timestamp { Timestamp(nanosecondsSinceEpoch: 0) }
}

enum SpanKind { case client }

struct SpanStatus {
    enum Code { case error }

    init(code: Code, message: String?) {}
}

final class Span {
    var attributes: [String: String] = [:]
    func setStatus(_ status: SpanStatus) {}
    func end() {}
}

func startSpan(_ name: String, at instant: DefaultTracerClock.Timestamp, ofKind kind: SpanKind) -> Span { Span() }
