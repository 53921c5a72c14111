import Foundation
import PippinSync
import SyncChild
import TestSupport
import Testing

@Suite("A device that is killed at any moment", .ownThread)
struct KilledDeviceTests {
    private static let kills = Int(ProcessInfo.processInfo.environment["PIPPIN_SYNC_KILLS"] ?? "") ?? 12

    @Test("loses no save that was acknowledged, and sends none twice")
    func kills() async throws {
        let folder = try TestFolder()
        let server = folder.url.appendingPathComponent("server.sqlite")
        let seed = Self.manager(server)
        try await seed.save(Counter(id: "all"))
        await seed.close()
        var random = SplitMix(state: 7)
        var acknowledged: [String: Int] = ["a": 0, "b": 0]
        for kill in 0..<Self.kills {
            let name = kill % 2 == 0 ? "a" : "b"
            let said = try Self.run(
                folder.url.appendingPathComponent("\(name).sqlite"), server, name,
                whileStarting: kill % 4 == 3, for: .random(in: 0..<500_000, using: &random))
            acknowledged[name] = max(acknowledged[name] ?? 0, said)
        }
        var texts: [String] = []
        for round in 0..<2 {
            for name in ["a", "b"] {
                let manager = Self.manager(folder.url.appendingPathComponent("\(name).sqlite"))
                let sync = try StoreSync(manager, .file(server, keepsHistory: .always), isLive: false)
                try await sync.finish()
                if round == 1 {
                    let entries = try await manager.fetch(Entry.self, sortedBy: .ascending(\.id))
                    let total = try await manager.find(Counter.self, id: "all")?.total
                    texts.append("\(total ?? 0) \(entries)")
                    // The last save may have been killed after it was saved and before it was acknowledged.
                    let all = acknowledged.values.reduce(0, +)
                    #expect(entries.count >= all && entries.count <= all + Self.kills)
                    #expect(total == entries.count)
                    #expect(try await sync.refused().isEmpty)
                }
                await sync.stop()
                await manager.close()
            }
        }
        #expect(texts.count == 2 && texts[0] == texts[1])
        #expect(acknowledged.values.allSatisfy { $0 > 0 })
    }

    private static func manager(_ file: URL) -> PersistenceManager {
        PersistenceManager(models: Counter.self, Entry.self, store: .file(file, keepsHistory: .always))
    }

    /// Runs a device for some microseconds, from its start or from its first save.
    ///
    /// - Returns: the last number that it acknowledged; 0 for none.
    private static func run(
        _ file: URL, _ server: URL, _ name: String, whileStarting: Bool, for time: UInt32
    ) throws -> Int {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("SyncChild")
        process.arguments = [file.path, server.path, name]
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        var said = whileStarting ? "" : String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        usleep(time)
        kill(process.processIdentifier, SIGKILL)
        said += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(complaint.isEmpty, "\(complaint)")
        return said.split(separator: "\n").compactMap { Int($0) }.max() ?? 0
    }
}
