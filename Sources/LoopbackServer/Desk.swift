import CLibMicroHTTPD
import Foundation
import HTTPMessages
import Synchronization

/// What all connections of a server share: the gate, who answers, and the streams that are being sent.
final class Desk: Sendable {
    private let answer: @Sendable (HTTPRequest, Gate) -> HTTPResponse
    private let gate = Mutex<Gate?>(nil)
    private let streams = Mutex<[ObjectIdentifier: StreamInUse]>([:])

    /// How many bytes a request may bring along.
    let largestBody: Int

    init(largestBody: Int, _ answer: @escaping @Sendable (HTTPRequest, Gate) -> HTTPResponse) {
        self.largestBody = largestBody
        self.answer = answer
    }

    /// Whether a request gets in, which its headers say.
    func admits(_ request: HTTPRequest) -> Bool {
        gate.withLock { gate in gate.map { (try? $0.admit(request)) != nil } ?? false }
    }

    func open(_ gate: Gate) { self.gate.withLock { $0 = gate } }

    /// Lets nobody in any more, and those go who wait for something to be sent.
    func close() {
        gate.withLock { $0 = nil }
        for stream in streams.withLock({ Array($0.values) }) { stream.content.cancel() }
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        var response: HTTPResponse
        if let gate = gate.withLock({ $0 }) {
            do { response = answer(try gate.admit(request), gate) } catch {
                let refusal = error as? Gate.Refusal
                response = HTTPResponse(text: (refusal?.reason ?? "\(error)") + "\n", status: refusal?.status ?? 500)
            }
        } else {
            response = HTTPResponse(text: "The server is being started or stopped.\n", status: 503)
        }
        response.headers += Gate.headers
        return response
    }

    func add(_ stream: StreamInUse) { streams.withLock { $0[ObjectIdentifier(stream)] = stream } }
    func remove(_ stream: StreamInUse) { streams.withLock { $0[ObjectIdentifier(stream)] = nil } }
}

/// A stream that is being sent, and what of its last piece did not fit yet. Its connection's thread alone uses it.
final class StreamInUse: @unchecked Sendable {
    // @unchecked Sendable: `rest` belongs to the connection's thread.
    let content: any HTTPStream
    private var rest = Data()

    init(_ content: any HTTPStream) { self.content = content }

    /// Fills in what comes next; nil at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        while rest.isEmpty {
            guard let next = try content.next() else { return nil }
            rest = next
        }
        let count = min(buffer.count, rest.count)
        rest.copyBytes(to: buffer, count: count)
        rest = Data(rest.dropFirst(count))
        return count
    }
}
