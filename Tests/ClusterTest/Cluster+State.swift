import Foundation

extension Cluster {
    struct Member: Decodable, Equatable {
        let name: String
        let role: String
        let state: String
        let timeline: Int?

        var isLeader: Bool { role == "leader" || role == "master" }
        var isRunning: Bool { state == "running" || state == "streaming" }
    }

    private struct Answer: Decodable { let members: [Member] }

    /// What the first Patroni that answers says of all.
    func state() -> [Member] {
        for index in 0..<Self.size {
            guard
                let body = try? HTTPQuestion.ask(
                    .port(port(Kind.rest, index)), "GET", "/cluster", body: "", seconds: 3),
                let answer = try? JSONDecoder().decode(Answer.self, from: Data(body.utf8)), !answer.members.isEmpty
            else { continue }
            return answer.members
        }
        return []
    }

    var leader: Int? { state().first(where: \.isLeader).flatMap { Int($0.name.dropFirst("node".count)) } }

    /// Waits until there are a leader and two standbys, one of which the leader waits for.
    func waitUntilWhole(seconds: Int) throws {
        var latest: [Member] = []
        let start = now()
        var lookedAfter = start
        let end = now() + UInt64(seconds) * 1_000_000_000
        while now() < end {
            latest = state()
            if latest.count == Self.size, latest.allSatisfy(\.isRunning), latest.contains(where: \.isLeader),
                latest.contains(where: { $0.role == "sync_standby" })
            {
                return
            }
            usleep(200_000)
            if now() - lookedAfter > 3_000_000_000 {
                lookedAfter = now()
                try revive()
                if now() - start > 25_000_000_000 { try makeAnew(latest, all: now() - start > 60_000_000_000) }
            }
        }
        throw ClusterError("the cluster is not whole after \(seconds) s: \(latest)")
    }

    func switchOver() throws {
        guard let leader else { return }
        _ = try HTTPQuestion.ask(
            .port(port(Kind.rest, leader)), "POST", "/switchover", body: "{\"leader\": \"node\(leader)\"}", seconds: 30)
    }
}
