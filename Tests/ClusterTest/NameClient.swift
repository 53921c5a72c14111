import CoreDataPostgres
import Foundation
import PippinPostgres

/// One program of several that work with structs: counts up in blocks of `write`, takes names that only one may have,
/// and watches them by a live query.
final class NameClient: Sendable {
    private let number: Int
    private let folder: String
    private let journal: Journal
    private let manager: PersistenceManager
    private let location: (url: URL?, options: Options)
    private let seed: UInt64

    private struct Options: @unchecked Sendable {
        // @unchecked Sendable: numbers and texts that nobody changes.
        let values: [AnyHashable: Any]
    }

    /// Whether a client is of this kind.
    static func isOne(_ number: Int) -> Bool { number % 4 == 2 }

    init(_ number: Int, _ connection: String, _ folder: String, seed: UInt64) throws {
        (self.number, self.folder) = (number, folder)
        self.seed = seed &+ UInt64(number) &* 7919
        journal = try Journal("\(folder)/journal-\(number)")
        let (manager, description) = Names.manager(connection, seconds: 90)
        self.manager = manager
        location = (description.url, Options(values: description.options))
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(folder)/\(name)") }

    /// Works until a file says to stop, and watches until another one says that this is the end.
    func run() async throws {
        try await manager.load()
        let watching = Task { await watch() }
        var (random, sequence) = (SeededGenerator(seed: seed), 0)
        var held: [Int: String] = [:]
        while !exists("stop") {
            sequence += 1
            if Int.random(in: 0..<2, using: &random) == 0 {
                await count(sequence, Int.random(in: 0..<3, using: &random))
            } else {
                await claim(sequence, Int.random(in: 0..<4, using: &random), &held)
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<30, using: &random)))
        }
        _ = FileManager.default.createFile(atPath: "\(folder)/idle-\(number)", contents: nil)
        while !exists("end") { try await Task.sleep(for: .milliseconds(100)) }
        watching.cancel()
    }

    // MARK: Writing

    private func count(_ sequence: Int, _ tally: Int) async {
        let (name, step) = ("tally-\(tally)", "\(number)-\(sequence)")
        await note(.count, sequence, tally, from: "", to: step) {
            try await self.manager.write { store in
                var tally = try store.find(Tally.self, id: name) ?? Tally(id: name)
                tally.count += 1
                try store.save(tally)
                try store.insert(Step(id: step, tally: name))
            }
        }
    }

    /// Gives a name back where this has it; else tries to take it, whoever may have it.
    private func claim(_ sequence: Int, _ name: Int, _ held: inout [Int: String]) async {
        if let badge = held[name] {
            let outcome = await note(.claim, sequence, name, from: badge, to: "") {
                guard try await self.manager.delete(Badge.self, id: badge) else {
                    throw ClusterError("a name that was taken was not there to be given back")
                }
            }
            if outcome == .done || outcome == .foundDone { held[name] = nil }
        } else {
            let badge = "\(number)-\(sequence)"
            let outcome = await note(.claim, sequence, name, from: "", to: badge) {
                try await self.manager.insert(Badge(id: badge, name: "name-\(name)"))
            }
            if outcome == .done || outcome == .foundDone { held[name] = badge }
        }
    }

    @discardableResult
    private func note(
        _ kind: Entry.Kind, _ sequence: Int, _ order: Int, from: String, to: String, _ body: () async throws -> Void
    ) async -> Entry.Outcome {
        let start = now()
        var entry = Entry(
            kind, .done, client: number, sequence: sequence, order: order, start: start, end: start, from: from, to: to)
        do { try await body() } catch {
            if let save = NSPostgreSQLUndecidedSave(of: error) {
                entry.outcome = await ask(save)
            } else {
                entry.outcome = .refused
                complain(of: error)
            }
        }
        entry.end = now()
        journal.write(entry)
        return entry.outcome
    }

    private func ask(_ save: NSPostgreSQLUndecidedSave) async -> Entry.Outcome {
        for _ in 0..<100 {
            if let isSaved = try? save.wasSaved(at: location.url, options: location.options.values) {
                return isSaved ? .foundDone : .foundUndone
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
        return .unknown
    }

    private func complain(of error: any Error) {
        let code = (error as NSError).code
        guard error is ClusterError || !Client.usualErrors.contains(code) else { return }
        journal.complain("client \(number): \(code) \(error)")
    }

    // MARK: Watching

    /// Notes each name that was shown, and keeps what is shown now in a file.
    private func watch() async {
        var known: Set<String> = []
        while !Task.isCancelled {
            do {
                for try await badges in manager.observe(Badge.self, sortedBy: .ascending(\.name)) {
                    for badge in badges where known.insert(badge.id).inserted {
                        let moment = now()
                        journal.write(
                            Entry(
                                .shown, .done, client: number, sequence: 0, order: 0, start: moment, end: moment,
                                from: badge.name, to: badge.id))
                    }
                    if Set(badges.map(\.name)).count < badges.count {
                        journal.complain("client \(number) was shown a name twice: \(badges)")
                    }
                    let lines = badges.map { "\($0.name)\t\($0.id)" }
                    try lines.joined(separator: "\n").write(
                        toFile: "\(folder)/live-\(number)", atomically: true, encoding: .utf8)
                }
            } catch { try? await Task.sleep(for: .milliseconds(200)) }
        }
    }
}
