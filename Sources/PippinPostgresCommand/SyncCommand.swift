import CoreData
import CoreDataPostgres
import Foundation
import HTTPMessages
import LoopbackServer
import Pippin
import PippinPostgres
import PippinSync
import StoreReading
import Synchronization

/// `pippin-postgres sync`: a file and a server's store, both by the models that they keep themselves; and
/// `pippin-postgres sync-server`.
enum SyncCommand {
    /// Thrown at the end if the journal has something.
    struct Refused: Error {}

    /// - Parameters:
    ///   - options: what to keep in step.
    ///   - progress: shows how far it is.
    ///   - output: takes what happens.
    /// - Throws: ``Refused``, and `CommandError` with the reason why the stores are not in step.
    static func run(
        _ options: SyncOptions, _ progress: ProgressLine, _ output: (String) throws -> Void
    ) throws {
        let moved = Moved()
        if progress.isSeen { StoreEvent.receive { moved.add($0) } }
        defer { if progress.isSeen { StoreEvent.receive(nil) } }
        if try run(progress, moved, output, { try await work(options, $0) }) { throw Refused() }
    }

    /// Answers devices until the program is ended.
    ///
    /// - Parameters:
    ///   - options: what to serve.
    ///   - output: takes what happens.
    /// - Throws: `CommandError` with the reason why nothing can be served.
    static func run(_ options: SyncServerOptions, _ output: (String) throws -> Void) throws {
        _ = try run(ProgressLine(.none) { _ in }, Moved(), output) { say in
            try await serve(options, say)
            return false
        }
    }

    /// Works in a task, and writes on this thread what that says.
    private static func run(
        _ progress: ProgressLine, _ moved: Moved, _ output: (String) throws -> Void,
        _ work: @escaping @Sendable (_ say: @escaping @Sendable (String) -> Void) async throws -> Bool
    ) throws -> Bool {
        let result = Mutex<Result<Bool, any Error>?>(nil)
        let lines = LineQueue()
        Task {
            let ended = await Swift.Result { try await work { lines.add($0) } }
            result.withLock { $0 = ended }
            lines.end()
        }
        while let line = lines.next(within: progress.isSeen ? 0.2 : nil) {
            if line.isEmpty {
                progress.say(moved.text)
            } else {
                progress.end()
                try output(line + "\n")
            }
        }
        progress.end()
        switch result.withLock({ $0 }) {
        case .failure(let error as SyncError): throw CommandError(error.description)
        case .failure(let error as HTTPListener.StartFailure): throw CommandError(error.description)
        case .failure(let error): throw error
        case .success(let isRefused): return isRefused
        case nil: return false
        }
    }

    /// A file's manager, by the model that the file keeps.
    private static func manager(_ file: URL, beginsHistory: Bool, isMissing: String) throws -> PersistenceManager {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw CommandError("“\(file.path)” does not exist; \(isMissing)")
        }
        if try !beginsHistory && !FileFacts(inPlace: file).hasHistory {
            throw CommandError(
                "“\(file.path)” keeps no history of its changes, so that they cannot be sent. --keep-history begins one; programs that "
                    + "open the file then have to keep it up, with NSPersistentHistoryTrackingKey or keepsHistory")
        }
        let name = file.deletingPathExtension().lastPathComponent
        guard let manager = try PersistenceManager.withOwnModel(name: name, of: .file(file, keepsHistory: .always))
        else { throw CommandError("“\(file.path)” keeps no copy of its model that can be read, which sync needs") }
        return manager
    }

    /// - Returns: the sync, and the server's name without a password.
    private static func sync(_ manager: PersistenceManager, _ options: SyncOptions) throws -> (StoreSync, String) {
        if options.isOnline {
            let server = SyncServerAddress.server(options.server, token: try token(options))
            return (try StoreSync(manager, server, isLive: options.follows), options.server)
        }
        let place = try PostgresCommand.Place(options.server)
        let server: StoreLocation =
            place.type == NSPostgreSQLStoreType
            ? .postgres(options.server, keepsHistory: .always) : .file(place.url, keepsHistory: .always)
        return (try StoreSync(manager, server, isLive: options.follows), place.url.withoutPassword.absoluteString)
    }

    /// What gives the token; nil for none.
    private static func token(_ options: SyncOptions) throws -> (@Sendable () async throws -> String)? {
        if let path = options.tokenFile {
            let read: @Sendable () throws -> String = {
                let text: String
                do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
                    throw CommandError(
                        "the file with the token, “\(path)”, cannot be read: \(error.localizedDescription)")
                }
                guard let line = text.split(whereSeparator: \.isNewline).first, !line.contains(" ") else {
                    throw CommandError(
                        "the first line of “\(path)” is not a token: characters without spaces were expected")
                }
                return String(line)
            }
            // A file that is missing is said before anything is asked.
            _ = try read()
            return { try read() }
        }
        guard let token = ProcessInfo.processInfo.environment["PIPPIN_SYNC_TOKEN"], !token.isEmpty else { return nil }
        return { token }
    }

    /// - Returns: whether something was refused.
    private static func work(_ options: SyncOptions, _ say: @escaping @Sendable (String) -> Void) async throws -> Bool {
        let manager = try manager(
            URL(store: options.store), beginsHistory: options.beginsHistory,
            isMissing: "pippin copy makes a file of a store on a server")
        let (sync, name) = try sync(manager, options)
        if options.follows {
            for await state in sync.states {
                say("\(Date().ISO8601Format()) \(text(state))")
                if case .refused = state { for refused in try await sync.refused() { say("  \(refused)") } }
            }
            return false
        }
        try await sync.finish()
        if options.checks {
            let repaired = try await sync.check()
            for model in repaired { say("Repaired: \(model)") }
            if repaired.isEmpty { say("All rows are the server's.") }
        }
        let refused = try await sync.refused()
        for change in refused {
            say("Refused: \(change)")
            if options.discards { try await change.discard() }
        }
        say("In step with \(name).")
        await sync.stop()
        await manager.close()
        return !refused.isEmpty && !options.discards
    }

    private static func serve(
        _ options: SyncServerOptions, _ say: @escaping @Sendable (String) -> Void
    ) async throws {
        let users = try TokenFile(options.tokens)
        let place = try PostgresCommand.Place(options.store)
        let manager: PersistenceManager
        if place.type == NSPostgreSQLStoreType {
            let location = StoreLocation.postgres(options.store, keepsHistory: .always)
            guard let own = try PersistenceManager.withOwnModel(name: "server", of: location) else {
                throw CommandError(
                    "there is no store at \(place.url.withoutPassword.absoluteString), or it keeps no copy of its model; pippin copy makes one of a file"
                )
            }
            manager = own
        } else {
            manager = try Self.manager(
                place.url, beginsHistory: options.beginsHistory,
                isMissing: "a program makes a server's store, or “pippin sync” of a file with it")
        }
        let server = try SyncServer(manager)
        let listener = try HTTPListener(port: options.port) { request in
            guard let header = request.headers["authorization"], header.hasPrefix("Bearer "),
                let user = users.user(ofToken: String(header.dropFirst("Bearer ".count)))
            else { return HTTPResponse(text: "The token is not known.\n", status: 401) }
            return await server.answer(request, for: user)
        }
        EndingSignals.perform { listener.stop() }
        say("Devices are answered at http://127.0.0.1:\(listener.port)/sync")
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }

    private static func text(_ state: StoreSync.State) -> String {
        switch state {
        case .upToDate: "in step"
        case .pending(let count): "\(TextTools.count(count, "transaction")) pending"
        case .downloading: "downloading"
        case .offline(_, let reason): "offline: \(reason)"
        case .refused(let count): "in step, \(TextTools.count(count, "change")) refused"
        case .waitsForServer(let pending): "\(TextTools.count(pending, "transaction")) wait for a newer server"
        case .waitsForProgram(let pending): "\(TextTools.count(pending, "transaction")) wait for a newer program"
        case .isOlderCopy: SyncError.olderCopyText
        case .needsLogin: "the server asks for a login"
        case .refusedByServer(let reason): reason
        case .repaired(let count): "\(TextTools.count(count, "row")) repaired"
        }
    }
}

/// What requests have moved, for a line that shows it.
private final class Moved: Sendable {
    private let total = Mutex((rows: 0, sent: 0, received: 0))

    func add(_ event: StoreEvent) {
        guard event.kind == .syncRequest, let moved = event.transfer else { return }
        total.withLock { total in
            total.rows += event.rows
            total.sent += moved.bytesSent
            total.received += moved.bytesReceived
        }
    }

    var text: String {
        let total = total.withLock { $0 }
        guard total.sent > 0 else { return "syncing …" }
        return "\(TextTools.count(total.rows, "row")), \(TextTools.size(Int64(total.sent))) sent, "
            + "\(TextTools.size(Int64(total.received))) received …"
    }
}

/// Who is let in by which token. The file is read again when it changes.
private final class TokenFile: Sendable {
    private typealias Known = (changed: Date?, size: Int?, users: [String: SyncUser])

    private let path: String
    private let known: Mutex<Known>

    init(_ path: String) throws {
        self.path = path
        known = Mutex(try Self.read(path))
    }

    func user(ofToken token: String) -> SyncUser? {
        known.withLock { known in
            let (changed, size) = Self.state(path)
            // A file that cannot be read lets nobody in: who was taken out of it may have been the reason.
            if changed != known.changed || size != known.size {
                known = (try? Self.read(path)) ?? (changed, size, [:])
            }
            return known.users[token]
        }
    }

    private static func state(_ path: String) -> (Date?, Int?) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.modificationDate] as? Date, (attributes?[.size] as? NSNumber)?.intValue)
    }

    private static func read(_ path: String) throws -> Known {
        let (changed, size) = state(path)
        let text: String
        do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
            throw CommandError("the file with the tokens, “\(path)”, cannot be read: \(error.localizedDescription)")
        }
        var users: [String: SyncUser] = [:]
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let token = words.first, !token.hasPrefix("#") else { continue }
            guard words.count > 1, token.utf8.count >= 16 else {
                throw CommandError(
                    "line \(number + 1) of “\(path)” does not have a token of at least 16 characters, and the name of a user"
                )
            }
            guard users.updateValue(SyncUser(words[1], scopes: Set(words.dropFirst(2))), forKey: token) == nil else {
                throw CommandError("line \(number + 1) of “\(path)” has a token that is there already")
            }
        }
        return (changed, size, users)
    }
}

/// Lines from a task to the thread that writes them.
private final class LineQueue: @unchecked Sendable {
    // @unchecked Sendable: the condition guards the lines.
    private let condition = NSCondition()
    private var lines: [String] = []
    private var isEnded = false

    func add(_ line: String) { change { lines.append(line) } }

    func end() { change { isEnded = true } }

    private func change(_ body: () -> Void) {
        condition.lock()
        body()
        condition.signal()
        condition.unlock()
    }

    /// Waits for the next line.
    ///
    /// - Parameter seconds: for how long; nil for as long as it takes.
    /// - Returns: the line; an empty one when the time is over, and nil at the end.
    func next(within seconds: Double? = nil) -> String? {
        condition.lock()
        defer { condition.unlock() }
        while lines.isEmpty && !isEnded {
            guard let seconds else {
                condition.wait()
                continue
            }
            if !condition.wait(until: Date(timeIntervalSinceNow: seconds)), lines.isEmpty, !isEnded { return "" }
        }
        return lines.isEmpty ? nil : lines.removeFirst()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
