import Foundation
import SwiftData
import TestSupport
import Testing

/// `PIPPIN_KILLS=20 PIPPIN_MIGRATED_ROWS=100000 swift test --filter KilledMigrationTests` kills as many programs as are
/// named, with as many rows, instead of 3 and 2,000.
@Suite("A program that is killed while it migrates models through three versions", .serialized)
struct KilledModelMigrationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kills = environment["PIPPIN_KILLS"].flatMap { Int($0) } ?? 3
    private static let rows = environment["PIPPIN_MIGRATED_ROWS"].flatMap { Int($0) } ?? 2_000

    private func run(_ arguments: String...) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("SwiftDataMigrationChild")
        process.arguments = arguments
        try process.run()
        return process
    }

    /// The version of a store's tables, which have all rows.
    private func version(_ store: URL) throws -> Int {
        let columns = try plainSQL("SELECT name FROM pragma_table_info('ZENTRY')", in: store)
        #expect(try plainNumber("SELECT COUNT(*) FROM ZENTRY", in: store) == Int64(Self.rows))
        #expect(try plainNumber("SELECT COUNT(DISTINCT ZNUMBER) FROM ZENTRY", in: store) == Int64(Self.rows))
        guard columns.contains("ZNOTE") else { return 1 }
        return columns.contains("ZTOTAL") ? 3 : 2
    }

    @Test("leaves all rows in the tables of one version, from which the next program goes on to the last one")
    func killed() async throws {
        let folder = try TestFolder()
        let original = folder.store
        let making = try run("make", original.path, "\(Self.rows)")
        making.waitUntilExit()
        #expect(making.terminationStatus == 0)
        let start = Date()
        let first = try copy(original, "first", folder)
        let whole = try run("migrate", first.path)
        whole.waitUntilExit()
        let duration = Date().timeIntervalSince(start)
        #expect(whole.terminationStatus == 0)
        #expect(try version(first) == 3)
        #expect(
            try plainNumber("SELECT COUNT(*) FROM ZENTRY WHERE ZTOTAL = 2 * ZNUMBER", in: first) == Int64(Self.rows))
        var versions: [Int] = []
        for number in 0..<Self.kills {
            let store = try copy(original, "\(number)", folder)
            let process = try run("migrate", store.path)
            try await Task.sleep(for: .seconds(Double.random(in: 0...duration)))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            versions.append(try version(store))
            let next = try run("migrate", store.path)
            next.waitUntilExit()
            #expect(next.terminationStatus == 0)
            #expect(try version(store) == 3)
        }
        print("versions left: \(versions)")
    }

    private func copy(_ store: URL, _ name: String, _ folder: TestFolder) throws -> URL {
        let copy = store.deletingLastPathComponent().appendingPathComponent("\(name).sqlite")
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy.path + suffix)
        }
        return copy
    }
}
