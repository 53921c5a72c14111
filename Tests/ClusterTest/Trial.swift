import Foundation
import PostgresConnection

/// A run of the test: a cluster, clients, faults, and what is to be said of it.
struct Trial {
    var seed: UInt64
    /// How many faults; each kind comes once before any comes again.
    var faults: Int
    /// No fault begins after so many seconds.
    var seconds: Int
    var clients = 8
    var firstPort: UInt16 = 15400
    var keeps = false
    /// The only kind of faults, by a part of its name; all of them where it is nil.
    var only: String?

    func run() throws -> Bool {
        say(now(), "seed \(seed), at most \(faults) faults within \(seconds) s, \(clients) clients")
        var random = SeededGenerator(seed: seed)
        let cluster = try Cluster(firstPort: firstPort, hasSmallDisks: true)
        if cluster.disks.isEmpty { print("no file systems can be made here: no disk will be full") }
        var isWell = false
        defer {
            if !isWell { print("what was written is kept in \(cluster.folder)-kept"); keep(cluster.folder) }
            cluster.stop(keepsFolder: keeps)
        }
        let begin = now()
        for index in 0..<Cluster.size { try cluster.startMember(index) }
        try cluster.waitForMembers()
        for index in 0..<Cluster.size { try cluster.startNode(index) }
        try cluster.waitUntilWhole(seconds: 120)
        say(begin, "the cluster is there")
        let children = try startClients(cluster)
        defer { for child in children where child.isRunning { kill(child.processIdentifier, SIGKILL) } }
        sleep(5)
        let happened = try breakThings(cluster, begin, &random)
        _ = FileManager.default.createFile(atPath: "\(cluster.folder)/stop", contents: nil)
        try wait(for: children.enumerated().filter { !NameClient.isOne($0.offset) }.map(\.element))
        try waitForIdle(cluster)
        try cluster.waitUntilWhole(seconds: 120)
        let stale = try staleLiveQueries(cluster)
        _ = FileManager.default.createFile(atPath: "\(cluster.folder)/end", contents: nil)
        try wait(for: children)
        isWell = try judge(cluster, happened, stale, begin)
        return isWell
    }

    private func startClients(_ cluster: Cluster) throws -> [Process] {
        try (0..<clients).map { number in
            let child = Process()
            child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            child.arguments = ["client", "\(number)", cluster.connection, cluster.folder, "\(seed)"]
            // What works in the folder ends with the test, however it ends.
            child.currentDirectoryURL = URL(fileURLWithPath: cluster.folder)
            try child.run()
            // The first one makes the tables.
            if number == 0 { sleep(3) }
            return child
        }
    }

    private func wait(for children: [Process]) throws {
        let end = now() + 150_000_000_000
        while children.contains(where: \.isRunning), now() < end { usleep(100_000) }
        for (number, child) in children.enumerated() {
            guard !child.isRunning else { throw ClusterError("client \(number) does not come to an end") }
            guard child.terminationStatus == 0 else {
                throw ClusterError("client \(number) ended with status \(child.terminationStatus)")
            }
        }
    }

    /// Waits until those that watch have stopped to write.
    private func waitForIdle(_ cluster: Cluster) throws {
        let names = (0..<clients).filter(NameClient.isOne).map { "\(cluster.folder)/idle-\($0)" }
        for _ in 0..<1500 {
            if names.allSatisfy(FileManager.default.fileExists(atPath:)) { return }
            usleep(100_000)
        }
        throw ClusterError("a client does not stop to write")
    }

    /// Waits until each live query shows what the table has.
    ///
    /// - Returns: what those show that do not, after half a minute.
    private func staleLiveQueries(_ cluster: Cluster) throws -> [String] {
        let numbers = (0..<clients).filter(NameClient.isOne)
        guard !numbers.isEmpty else { return [] }
        let connection = try PostgresConnection(
            ConnectionTarget(cluster.connection + " target_session_attrs=read-write"))
        let rows = try connection.queryOnce("SELECT name, id FROM names.badge ORDER BY name")
        let lines = (0..<rows.count).map { "\(rows.string($0, 0))\t\(rows.string($0, 1))" }
        let end = now() + 30_000_000_000
        var stale: [String] = []
        repeat {
            stale = numbers.compactMap { number in
                let shown = (try? String(contentsOfFile: "\(cluster.folder)/live-\(number)", encoding: .utf8)) ?? ""
                return shown == lines.joined(separator: "\n")
                    ? nil
                    : "the live query of client \(number) shows \(shown.debugDescription), and the table has \(lines)"
            }
            if stale.isEmpty { return [] }
            usleep(200_000)
        } while now() < end
        return stale
    }

    private func breakThings(_ cluster: Cluster, _ begin: UInt64, _ random: inout SeededGenerator) throws -> [Happened]
    {
        var happened: [Happened] = []
        var round: [Fault] = []
        while happened.count < faults, now() - begin < UInt64(seconds) * 1_000_000_000 {
            if round.isEmpty { round = try faultKinds(cluster).shuffled(using: &random) }
            let fault = round.removeLast()
            let start = now()
            say(begin, "\(happened.count + 1): \(fault.rawValue)")
            try fault.happen(to: cluster, &random)
            usleep(500_000)
            try cluster.waitUntilWhole(seconds: 180)
            happened.append(Happened(fault: fault, start: start, end: now()))
            say(begin, "whole again after \(seconds(now() - start))")
            usleep(UInt32.random(in: 2_000_000...3_000_000, using: &random))
        }
        return happened
    }

    private func faultKinds(_ cluster: Cluster) throws -> [Fault] {
        let kinds = Fault.possible(in: cluster).filter { fault in only.map { fault.rawValue.contains($0) } ?? true }
        guard !kinds.isEmpty else { throw ClusterError("there is no such fault, or it cannot be made here") }
        return kinds
    }

    private func judge(_ cluster: Cluster, _ happened: [Happened], _ stale: [String], _ begin: UInt64) throws -> Bool {
        var verdict = Verdict(clients: clients, folder: cluster.folder)
        let connection = try PostgresConnection(
            ConnectionTarget(cluster.connection + " target_session_attrs=read-write"))
        try verdict.checkTables(connection)
        try verdict.checkOrders(connection)
        try verdict.checkOffers(connection)
        try verdict.checkNames(connection)
        verdict.complaints += stale
        let saves = verdict.entries.filter(\.kind.isSave)
        func count(_ outcome: Entry.Outcome) -> Int { saves.count { $0.outcome == outcome } }
        say(
            begin,
            "\(happened.count) faults; saves: \(count(.done)) done, \(count(.refused)) refused, "
                + "\(count(.foundDone)) + \(count(.foundUndone)) found out later to be done and undone, \(count(.unknown)) unknown; "
                + "readings of standbys: \(verdict.entries.count { $0.kind == .look && $0.outcome == .done }) done; "
                + "reads: \(verdict.entries.count { $0.kind == .read && $0.outcome == .done }) done, "
                + "\(verdict.entries.count { $0.kind == .read && $0.outcome != .done }) failed")
        for line in Rates(saves).lines(happened) { print(line) }
        for complaint in verdict.complaints.prefix(50) { print("WRONG: \(complaint)") }
        print(
            verdict.complaints.isEmpty
                ? "Nothing was lost, nothing happened twice."
                : "\(verdict.complaints.count) things are wrong; seed \(seed)")
        return verdict.complaints.isEmpty
    }

    private func seconds(_ nanoseconds: UInt64) -> String {
        String(format: "%.1f s", Double(nanoseconds) / 1e9)
    }

    private func say(_ begin: UInt64, _ text: String) {
        print("[\(seconds(now() - begin))] \(text)")
        fflush(nil)
    }

    /// Copies logs and journals, which go with the folder.
    private func keep(_ folder: String) {
        let copy = Process()
        copy.executableURL = URL(fileURLWithPath: "/bin/sh")
        copy.arguments = [
            "-c",
            "mkdir -p \"$0-kept\"; cd \"$0\"; for f in journal-* */log node*/disk/data/log/*; do [ -e \"$f\" ] && cp --parents \"$f\" \"$0-kept\"; done",
            folder,
        ]
        try? copy.run()
        copy.waitUntilExit()
    }
}
