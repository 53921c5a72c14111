import FaultProxy
import Foundation
import LoopbackServer
import SyncChild
import SyncPlanning
import Synchronization
import TestSupport
import Testing

@testable import PippinSync

/// A network that understands requests, so that it can break each at every byte.
final class HTTPFaultProxy: Sendable {
    enum Fault: Sendable {
        /// The answer's bytes end there, and the connection with them.
        case cutAnswer(Int)
        /// The request's bytes end there: the server never has all of it.
        case cutRequest(Int)
        /// The connection is reset there, as by a machine that knows nothing of it.
        case reset(Int)
        /// Some bytes of the answer come twice, or one is another one.
        case stutter(Int)
        case flip(Int)
        /// The server has the request twice, at once or once more before the next one.
        case doubled
        case lateCopy
        /// The answer comes late.
        case delayed
    }

    private struct State {
        var fault: Fault?
        var skipped = 0
        var fired = 0
        var copy: [UInt8]?
        var upstream: Int
    }

    private let state: Mutex<State>
    private let listener: Int32
    let port: UInt16

    init(to upstream: Int) throws {
        state = Mutex(State(upstream: upstream))
        listener = try SocketAddress.port(0).listen()
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { break }
                guard let self else {
                    close(client)
                    break
                }
                Thread.detachNewThread { self.serve(client) }
            }
            close(descriptor)
        }
    }

    func end() { shutdown(listener, Int32(SHUT_RDWR)) }

    var url: String { "http://127.0.0.1:\(port)/sync" }
    var fired: Int { state.withLock { $0.fired } }
    func setUpstream(_ port: Int) { state.withLock { $0.upstream = port } }

    /// - Parameters:
    ///   - fault: what happens once.
    ///   - skipping: how many requests pass before.
    func set(_ fault: Fault?, skipping: Int = 0) { state.withLock { ($0.fault, $0.skipped) = (fault, skipping) } }

    private func next() -> (Fault?, copy: [UInt8]?, upstream: Int) {
        state.withLock { state in
            defer { state.copy = nil }
            guard let fault = state.fault else { return (nil, state.copy, state.upstream) }
            if state.skipped > 0 {
                state.skipped -= 1
                return (nil, state.copy, state.upstream)
            }
            state.fault = nil
            state.fired += 1
            return (fault, state.copy, state.upstream)
        }
    }

    private func serve(_ client: Int32) {
        defer { close(client) }
        while let request = Self.message(client) {
            let (fault, copy, upstream) = next()
            if let copy { _ = Self.exchange(copy, upstream) }
            if case .cutRequest(let count) = fault {
                // The server waits for the rest until the connection ends.
                guard let server = try? SocketAddress.port(UInt16(upstream)).connect() else { return }
                Self.write(Array(request.prefix(count % request.count)), server)
                close(server)
                return
            }
            if case .doubled = fault { _ = Self.exchange(request, upstream) }
            guard var answer = Self.exchange(request, upstream) else { return }
            switch fault {
            case .cutAnswer(let count): answer = Array(answer.prefix(count % answer.count))
            case .reset(let count):
                Self.write(Array(answer.prefix(count % answer.count)), client)
                var now = linger(l_onoff: 1, l_linger: 0)
                setsockopt(client, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
                return
            case .stutter(let place):
                let place = place % answer.count
                answer.insert(contentsOf: answer[place..<min(place + 3, answer.count)], at: place)
            case .flip(let place): answer[place % answer.count] ^= 0x10
            case .lateCopy: state.withLock { $0.copy = request }
            case .delayed: usleep(30_000)
            default: break
            }
            guard Self.write(answer, client) else { return }
            switch fault {
            case .cutAnswer, .stutter, .flip: return
            default: break
            }
        }
    }

    /// Sends bytes to the server, and reads the answer; nil if there is none.
    private static func exchange(_ bytes: [UInt8], _ upstream: Int) -> [UInt8]? {
        guard let server = try? SocketAddress.port(UInt16(upstream)).connect() else { return nil }
        defer { close(server) }
        guard write(bytes, server) else { return nil }
        return message(server)
    }

    @discardableResult
    private static func write(_ bytes: [UInt8], _ socket: Int32) -> Bool {
        var place = 0
        while place < bytes.count {
            let count = bytes[place...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            place += count
        }
        return true
    }

    /// A whole request or answer; nil if the connection ends before.
    private static func message(_ socket: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let gap = Array("\r\n\r\n".utf8)
        var size: Int?
        while true {
            if size == nil, let end = bytes.firstRange(of: gap)?.upperBound {
                let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
                let length = head.components(separatedBy: "content-length:").dropFirst().first.flatMap {
                    Int($0.prefix { $0 != "\r" && $0 != "\n" && $0 != "\r\n" }.trimmingCharacters(in: .whitespaces))
                }
                size = end + (length ?? 0)
            }
            if let size, bytes.count >= size { return bytes }
            let count = recv(socket, &chunk, chunk.count, 0)
            if count <= 0 { return nil }
            bytes += chunk[..<count]
        }
    }
}

@Suite("A network that breaks requests and answers", .ownThread)
struct HTTPFaultTests {
    /// How many faults; `make test-sync-http` has a thousand and more.
    private static let faults = Int(ProcessInfo.processInfo.environment["PIPPIN_SYNC_FAULTS"] ?? "") ?? 120

    private static func manager(_ folder: TestFolder, _ name: String) -> PersistenceManager {
        PersistenceManager(
            models: Counter.self, Entry.self,
            store: .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always))
    }

    @Test("loses no save and brings none twice, wherever it breaks, and though the server's process ends, too")
    func faults() async throws {
        let folder = try TestFolder()
        var server = try OnlineServer(Self.manager(folder, "server"))
        try await server.manager.save(Counter(id: "all"))
        let proxy = try HTTPFaultProxy(to: server.port)
        let managers = [Self.manager(folder, "a"), Self.manager(folder, "b")]
        let syncs = try managers.map { try StoreSync($0, .server(proxy.url) { "ann" }, isLive: false) }
        for sync in syncs { try await sync.finish() }
        var random = SplitMix(state: 62)
        var (saved, failed, number) = (0, 0, 0)
        while proxy.fired < Self.faults {
            number += 1
            let device = number % 2
            let place = number % 5 == 0 ? Int.random(in: 0..<4_000, using: &random) : number / 5 % 700
            let faults: [HTTPFaultProxy.Fault] = [
                .cutAnswer(place), .reset(place), .cutRequest(place), .doubled, .lateCopy, .stutter(place),
                .flip(place),
                .delayed,
            ]
            proxy.set(faults[number % faults.count], skipping: Int.random(in: 0..<4, using: &random))
            let entry = Entry(id: "\(number)", author: "\(device)")
            try await managers[device].write { access in
                var counter = try access.find(Counter.self, id: "all") ?? Counter(id: "all")
                counter.total += 1
                try access.save(counter)
                try access.save(entry)
            }
            saved += 1
            do { try await syncs[device].finish() } catch {
                failed += 1
                #expect((error as? SyncError)?.code == .offline, "\(error)")
            }
            if number % 60 == 0 {
                await server.end()
                server = try OnlineServer(Self.manager(folder, "server"))
                proxy.setUpstream(server.port)
            }
        }
        proxy.set(nil)
        for _ in 0..<2 { for sync in syncs { try await sync.finish() } }
        let onServer = try await server.manager.fetch(Entry.self, sortedBy: .ascending(\.id))
        print("\(proxy.fired) faults in \(saved) saves; \(failed) syncs failed")
        #expect(onServer.count == saved)
        #expect(try await server.manager.find(Counter.self, id: "all")?.total == saved)
        for (manager, sync) in zip(managers, syncs) {
            #expect(try await manager.fetch(Entry.self, sortedBy: .ascending(\.id)) == onServer)
            #expect(try await manager.find(Counter.self, id: "all")?.total == saved)
            #expect(try await sync.refused().isEmpty)
            await sync.stop()
        }
        #expect(failed > Self.faults / 8)
        await server.end()
        proxy.end()
    }

    @Test("has its changed requests refused with a reason, and the server's rows stay as they are")
    func mutatedRequests() async throws {
        let folder = try TestFolder()
        let server = try SyncServer(Self.manager(folder, "server"))
        let manager = Self.manager(folder, "a")
        let listener = try HTTPListener { request in
            let user = SyncUser("ann")
            // What arrives changed is asked first, and then what was meant.
            var random = SplitMix(state: UInt64(request.body.count))
            for _ in 0..<50 {
                var bytes = Array(request.body)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    bytes[Int.random(in: 2..<bytes.count, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random)
                case 1: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
                case 2: bytes.remove(at: Int.random(in: 2..<bytes.count, using: &random))
                default: bytes.insert(7, at: Int.random(in: 2..<bytes.count, using: &random))
                }
                var copy = request
                copy.body = Data(bytes)
                let response = await server.answer(copy, for: user)
                if bytes != Array(request.body) { #expect(response.status == 400) }
                guard case .data(let data) = response.body else { continue }
                #expect(String(decoding: data, as: UTF8.self).contains("message"))
            }
            return await server.answer(request, for: user)
        }
        let sync = try StoreSync(manager, .server("http://127.0.0.1:\(listener.port)") { "t" }, isLive: false)
        for number in 0..<4 {
            try await manager.save(Entry(id: "\(number)", author: "a"))
            try await sync.finish()
        }
        #expect(server.counts.refused >= 500)
        #expect(try await Self.manager(folder, "server").count(Entry.self) == 4)
        await sync.stop()
        listener.stop()
    }

    @Test("cannot make a server take more than its limits")
    func limits() async throws {
        let folder = try TestFolder()
        var limits = SyncServer.Limits()
        (limits.request, limits.message) = (20_000, 100_000)
        let online = try OnlineServer(Self.manager(folder, "server"), limits: limits)
        func status(_ body: Data, _ path: String = "/sync/push", method: String = "POST") async -> Int {
            await online.sync.answer(HTTPRequest(method, path, body: body), for: SyncUser("ann")).status
        }
        // A hundred megabytes of spaces in a hundred kilobytes.
        let bomb = try WireBody.pack(Array(repeating: 0x20, count: 10_000_000))
        #expect(bomb.count < 20_000)
        #expect(await status(bomb) == 413)
        #expect(await status(Data(count: 20_001)) == 413)
        #expect(await status(Data()) == 400)
        #expect(await status(Data("{\"pippin\":9}\n{\"end\":1}\n".utf8)) == 409)
        #expect(await status(Data("x".utf8), "/sync/other") == 404)
        #expect(await status(Data(), method: "GET") == 405)
        // A device that has saved more at once than the server takes says so, and keeps it.
        let manager = Self.manager(folder, "a")
        let sync = try StoreSync(manager, .server(online.url) { "ann" }, isLive: false)
        try await sync.finish()
        try await manager.save((0..<3_000).map { Entry(id: "\($0)", author: UUID().uuidString) })
        let error = await #expect(throws: SyncError.self) { try await sync.finish() }
        #expect(error?.code == .tooLarge)
        #expect(try await manager.count(Entry.self) == 3_000)
        await sync.stop()
        await online.end()
    }
}

private struct Paper: CoreModel, Equatable {
    let id: String
    var text: String
    var team: String?

    static var schema: Schema<Paper> { Schema(.scope(\.team)) }
}

@Suite("Users with rights of their own", .ownThread)
struct HTTPRightsTests {
    /// How many saves; `make test-sync-http` has ten thousand.
    private static let saves = Int(ProcessInfo.processInfo.environment["PIPPIN_SYNC_RIGHTS"] ?? "") ?? 300
    private static let teams = ["red", "blue", "green"]

    private static func manager(_ folder: TestFolder, _ name: String) -> PersistenceManager {
        PersistenceManager(
            models: Paper.self,
            store: .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always))
    }

    /// Rights, and what was seen on the wire.
    private struct Rights {
        var scopes: [String: Set<String>] = ["ann": ["red"], "bob": ["blue", "green"], "cid": []]
        var answers = 0
        var leaks: [String] = []
    }

    @Test("never get a byte of a model of another's scope, and lose a scope's models with the scope")
    func rights() async throws {
        let folder = try TestFolder()
        let server = try SyncServer(Self.manager(folder, "server"))
        let central = Self.manager(folder, "server")
        let rights = Mutex(Rights())
        let listener = try HTTPListener { request in
            let name = request.headers["authorization"].map { String($0.dropFirst(7)) } ?? ""
            let scopes = rights.withLock { $0.scopes[name] ?? [] }
            let response = await server.answer(request, for: SyncUser(name, scopes: scopes))
            guard case .data(let data) = response.body else { return response }
            let said = String(decoding: (try? WireBody.unpack(data, limit: 1 << 26)) ?? Array(data), as: UTF8.self)
            // What a device has sent itself may come back to it with a refusal.
            let sent = String(decoding: (try? WireBody.unpack(request.body, limit: 1 << 26)) ?? [], as: UTF8.self)
            rights.withLock { rights in
                rights.answers += 1
                for team in Self.teams where !scopes.contains(team) && said.contains("[\(team)]") {
                    if request.path.last == "push", sent.contains("[\(team)]") { continue }
                    rights.leaks.append("\(name) got \(team): \(said.prefix(400))")
                }
            }
            return response
        }
        let names = ["ann", "bob", "cid"]
        let managers = names.map { Self.manager(folder, $0) }
        let syncs = try zip(names, managers).map { name, manager in
            try StoreSync(manager, .server("http://127.0.0.1:\(listener.port)") { name }, isLive: false)
        }
        var random = SplitMix(state: 9)
        var changes = 0
        for number in 0..<Self.saves {
            let writer = Int.random(in: 0...3, using: &random)
            let manager = writer == 3 ? central : managers[writer]
            let papers = try await manager.fetch(Paper.self, sortedBy: .ascending(\.id))
            let team = Bool.random(using: &random) ? Self.teams.randomElement(using: &random) : nil
            let text = "[\(team ?? "all")] \(number)"
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: try await manager.save(Paper(id: "\(number)", text: text, team: team))
            case 2, 3:
                guard var paper = papers.randomElement(using: &random) else { continue }
                (paper.text, paper.team) = (text, team)
                try await manager.save(paper)
            default:
                guard let paper = papers.randomElement(using: &random) else { continue }
                try await manager.delete(paper)
            }
            if number % 20 == 0 {
                changes += 1
                let (name, team) = (names[changes % 3], Self.teams[Int.random(in: 0..<3, using: &random)])
                rights.withLock { $0.scopes[name]?.formSymmetricDifference([team]) }
            }
            if number % 5 == 0 { try await syncs[Int.random(in: 0..<3, using: &random)].finish() }
        }
        for _ in 0..<2 { for sync in syncs { try await sync.finish() } }
        let all = try await central.fetch(Paper.self, sortedBy: .ascending(\.id))
        for (name, manager) in zip(names, managers) {
            let scopes = rights.withLock { $0.scopes[name] ?? [] }
            let own = try await manager.fetch(Paper.self, sortedBy: .ascending(\.id))
            #expect(own == all.filter { $0.team.map { scopes.contains($0) } ?? true }, "\(name)")
        }
        let seen = rights.withLock { $0 }
        print("\(seen.answers) answers, \(changes) changes of scopes, \(all.count) models")
        #expect(seen.leaks == [])
        #expect(seen.answers > 50)
        for sync in syncs { await sync.stop() }
        listener.stop()
        await central.close()
    }
}
