import FaultProxy
import Foundation

/// What is done to the cluster.
enum Fault: String, CaseIterable {
    case primaryKilled = "primary killed with its Patroni"
    case postmasterKilled = "PostgreSQL of the primary killed"
    case primaryStopped = "primary stopped and continued"
    case primaryCut = "primary cut off the network"
    case connectionsCut = "connections cut"
    case standbyKilled = "standby killed"
    case memberKilled = "etcd member killed"
    case switchedOver = "switch-over"
    case diskFull = "disk of the primary full"

    /// The kinds that can happen to a cluster.
    static func possible(in cluster: Cluster) -> [Fault] {
        allCases.filter { $0 != .diskFull || !cluster.disks.isEmpty }
    }

    /// How long it lasts, in seconds.
    var length: ClosedRange<Double> {
        switch self {
        case .primaryKilled: 0.5...4
        case .primaryStopped: 1...12
        case .primaryCut: 2...15
        case .postmasterKilled, .connectionsCut, .switchedOver: 0...0
        case .standbyKilled, .memberKilled: 0.5...5
        case .diskFull: 4...12
        }
    }

    /// For how long a primary may stand still and go on as if nothing had been, in microseconds: less than Patroni's
    /// lock lives.
    private static let longestPause: UInt32 = 5_000_000

    /// Does it, and undoes it after its time.
    func happen(to cluster: Cluster, _ random: inout SeededGenerator) throws {
        guard let leader = cluster.leader else { throw ClusterError("there is no leader to do anything to") }
        let pause = UInt32(Double.random(in: length, using: &random) * 1_000_000)
        let other = (leader + Int.random(in: 1..<Cluster.size, using: &random)) % Cluster.size
        let node = cluster.nodes[leader]
        switch self {
        case .primaryKilled:
            node.killAll()
            usleep(pause)
            try cluster.startNode(leader)
        case .postmasterKilled: node.killAll { $0 == "postgres" }
        case .primaryStopped:
            node.send(SIGSTOP)
            usleep(pause)
            // A machine that was away for longer than its lock lives is reset by its watchdog, without which Patroni
            // (3.0, with etcd) was seen to take the lock back from the server that has it by then.
            guard pause > Self.longestPause else { return node.send(SIGCONT) }
            node.killAll()
            try cluster.startNode(leader)
        case .primaryCut:
            let network = [cluster.doors[leader]] + cluster.wires[leader]
            for proxy in network { proxy.set(.silent) }
            usleep(pause)
            for proxy in network { proxy.set(.passes) }
        case .connectionsCut:
            cluster.doors[leader].set(.refuses)
            cluster.doors[leader].set(.passes)
        case .standbyKilled:
            cluster.nodes[other].killAll()
            usleep(pause)
            try cluster.startNode(other)
        case .memberKilled:
            cluster.members[other].killAll()
            usleep(pause)
            try cluster.startMember(other)
        case .switchedOver: try cluster.switchOver()
        case .diskFull:
            // The log's segments are small, so that the next one is wanted within seconds.
            cluster.disks[leader].fill()
            usleep(pause)
            cluster.disks[leader].free()
        }
    }
}
