import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A network of the tests' own between a program and a server: it passes bytes on, loses them, or ends connections, as
/// it is told.
package final class FaultProxy: Sendable {
    /// What happens to what comes along.
    package enum Mode: Sendable, Equatable {
        case passes
        /// Nothing arrives any more, and nobody is told, as when a cable is cut.
        case silent
        /// Connections end, and no new ones are made, as when a machine is gone.
        case refuses
        /// Each new connection is refused with an error of the server, and those that there are go on.
        case answers(state: String, message: String)
    }

    /// What is done, once, to the next message in which a text stands: a way to lose an answer on purpose.
    package enum Ambush: Sendable, Equatable {
        /// The connection ends before the server has the message.
        case before(String)
        /// The connection ends after the server has answered, and before the program has the answer.
        case after(String)
        /// The server has the message, and nothing more is heard of it for so many seconds; then the connection ends.
        case silence(String, seconds: Double)
    }

    private struct State {
        var mode = Mode.passes
        var ambush: Ambush?
        /// Whether nobody is let in once the ambush has happened.
        var refusesAfterwards = false
        var sockets: Set<Int32> = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let listener: Int32
    private let upstream: SocketAddress

    /// - Parameters:
    ///   - address: where programs connect to.
    ///   - upstream: the server.
    /// - Throws: an error when nothing can be listened to there.
    package init(listeningAt address: SocketAddress, to upstream: SocketAddress) throws {
        self.upstream = upstream
        listener = try address.listen()
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                // What tests start must not keep the connection open.
                if client >= 0 { _ = fcntl(client, F_SETFD, FD_CLOEXEC) }
                guard let self else { break }
                guard client >= 0 else {
                    if state.withLock({ $0.isClosed }) || errno == EBADF || errno == EINVAL { break }
                    continue
                }
                serve(client)
            }
            Glibc.close(listener)
        }
    }

    deinit { close() }

    /// Ends everything.
    package func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        endAll()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    package var mode: Mode { state.withLock { $0.mode } }

    package func set(_ mode: Mode) {
        let former = state.withLock { state in
            defer { state.mode = mode }
            return state.mode
        }
        // Connections that heard nothing for a while are gone when the network is back.
        if mode == .refuses || former == .silent && mode == .passes { endAll() }
    }

    /// - Parameters:
    ///   - ambush: what happens once.
    ///   - refuses: whether no new connections are made after that, until another mode is set.
    package func set(_ ambush: Ambush?, thenRefuses refuses: Bool = false) {
        state.withLock { ($0.ambush, $0.refusesAfterwards) = (ambush, refuses) }
    }

    /// Whether the ambush is still to come.
    package var isAmbushSet: Bool { state.withLock { $0.ambush != nil } }

    private func endAll() {
        state.withLock { state in for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    // MARK: Connections

    private func serve(_ client: Int32) {
        let mode = mode
        guard mode != .refuses else {
            Glibc.close(client)
            return
        }
        state.withLock { _ = $0.sockets.insert(client) }
        Thread.detachNewThread { [self] in
            if case .answers(let state, let message) = mode { return refuse(client, state, message) }
            // Who connects into silence hears nothing.
            while self.mode == .silent, !state.withLock({ $0.isClosed }) { usleep(20_000) }
            let pair = Pair(client: client)
            guard self.mode == .passes, let server = try? upstream.connect() else { return end(pair, -1) }
            state.withLock { _ = $0.sockets.insert(server) }
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [self] in
                copy(from: server, to: client, pair, isFromClient: false)
                done.signal()
            }
            copy(from: client, to: server, pair, isFromClient: true)
            done.wait()
            end(pair, server)
        }
    }

    /// Answers the first message with an error, as a server does that lets nobody in.
    private func refuse(_ client: Int32, _ state: String, _ message: String) {
        var fields: [UInt8] = []
        for field in ["SFATAL", "VFATAL", "C\(state)", "M\(message)"] { fields += Array(field.utf8) + [0] }
        fields.append(0)
        let size = UInt32(fields.count + 4).bigEndian
        let answer = withUnsafeBytes(of: size) { [UInt8(ascii: "E")] + Array($0) + fields }
        var request = [UInt8](repeating: 0, count: 4096)
        if read(client, &request, request.count) > 0 { _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) }
        end(Pair(client: client), -1)
    }

    private func end(_ pair: Pair, _ server: Int32) {
        state.withLock { state in
            for socket in [pair.client, server] where socket >= 0 {
                state.sockets.remove(socket)
                Glibc.close(socket)
            }
        }
    }

    private final class Pair: Sendable {
        let client: Int32
        /// Set once the server has a message whose answer is to be lost.
        let losesAnswer = Atomic<Bool>(false)
        let silentFor = Mutex<Double>(0)
        init(client: Int32) { self.client = client }
    }

    private func copy(from source: Int32, to target: Int32, _ pair: Pair, isFromClient: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        loop: while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0 else { break }
            while mode == .silent { usleep(20_000) }
            if isFromClient {
                switch sprung(buffer[..<count]) {
                case .before: break loop
                case .after: pair.losesAnswer.store(true, ordering: .sequentiallyConsistent)
                case .silence(_, let seconds):
                    pair.silentFor.withLock { $0 = seconds }
                    pair.losesAnswer.store(true, ordering: .sequentiallyConsistent)
                case nil: break
                }
            } else if pair.losesAnswer.load(ordering: .sequentiallyConsistent) {
                usleep(UInt32(pair.silentFor.withLock { $0 } * 1_000_000))
                break
            }
            var sent = 0
            while sent < count {
                let written = buffer.withUnsafeBytes {
                    send(target, $0.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break loop }
                sent += written
            }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    private func sprung(_ bytes: ArraySlice<UInt8>) -> Ambush? {
        state.withLock { state in
            guard let ambush = state.ambush else { return nil }
            let text: String
            switch ambush {
            case .before(let given), .after(let given), .silence(let given, _): text = given
            }
            guard String(decoding: bytes, as: UTF8.self).contains(text) else { return nil }
            state.ambush = nil
            if state.refusesAfterwards { state.mode = .refuses }
            return ambush
        }
    }
}
