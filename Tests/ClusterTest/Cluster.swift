import FaultProxy
import Foundation

/// Three PostgreSQL servers under Patroni, and three members of etcd, all on this machine. Between them, and between
/// them and the clients, lies a network of the test's own.
final class Cluster {
    static let size = 3
    let folder: String
    private let programs: Programs
    private let firstPort: UInt16
    let nodes: [WorkingFolder]
    let members: [WorkingFolder]
    /// What is in front of each server.
    let doors: [FaultProxy]
    /// What is between each Patroni and the members of etcd.
    let wires: [[FaultProxy]]
    /// What each server writes to; empty where file systems cannot be made here, or are not wanted.
    let disks: [SmallDisk]
    private let reaper: Process
    private let lifeline = Pipe()
    /// When a server was copied anew.
    private var madeAnew: [Int: UInt64] = [:]

    func port(_ kind: UInt16, _ index: Int) -> UInt16 { firstPort + kind * 10 + UInt16(index) }
    private static func port(_ first: UInt16, _ kind: UInt16, _ index: Int) -> UInt16 {
        first + kind * 10 + UInt16(index)
    }
    enum Kind {
        static let server: UInt16 = 0, door: UInt16 = 1, rest: UInt16 = 2, etcd: UInt16 = 3, peer: UInt16 = 4
        static let wire: UInt16 = 5
    }

    /// Where clients connect to.
    var connection: String {
        let ports = (0..<Self.size).map { "\(port(Kind.door, $0))" }.joined(separator: ",")
        return "host=127.0.0.1,127.0.0.1,127.0.0.1 port=\(ports) dbname=postgres user=postgres"
    }

    /// The servers without the network between.
    func direct(_ index: Int) -> String {
        "host=127.0.0.1 port=\(port(Kind.server, index)) dbname=postgres user=postgres connect_timeout=2"
    }

    /// - Parameters:
    ///   - firstPort: the first of the ports that are used.
    ///   - hasSmallDisks: whether each server gets a small file system, where that is permitted.
    /// - Throws: an error that says what is missing.
    init(firstPort: UInt16, hasSmallDisks: Bool = false) throws {
        programs = try Programs.found()
        self.firstPort = firstPort
        var template = Array("/tmp/pippin-cluster-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ClusterError("no folder could be made in /tmp") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.folder = folder
        nodes = (0..<Self.size).map { WorkingFolder(path: "\(folder)/node\($0)") }
        members = (0..<Self.size).map { WorkingFolder(path: "\(folder)/etcd\($0)") }
        // Whatever works in the folder ends when this process does, however it does.
        reaper = Process()
        reaper.executableURL = URL(fileURLWithPath: "/bin/sh")
        reaper.arguments = ["-c", Self.reaperScript, folder]
        reaper.standardInput = lifeline.fileHandleForReading
        reaper.standardOutput = FileHandle.nullDevice
        reaper.standardError = FileHandle.nullDevice
        try reaper.run()
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        doors = try (0..<Self.size).map { index in
            try FaultProxy(
                listeningAt: .port(Self.port(firstPort, Kind.door, index)),
                to: .port(Self.port(firstPort, Kind.server, index)))
        }
        wires = try (0..<Self.size).map { node in
            try (0..<Self.size).map { member in
                try FaultProxy(
                    listeningAt: .port(Self.port(firstPort, Kind.wire + UInt16(node), member)),
                    to: .port(Self.port(firstPort, Kind.etcd, member)))
            }
        }
        for working in nodes + members {
            try FileManager.default.createDirectory(atPath: working.path, withIntermediateDirectories: true)
        }
        for node in nodes {
            try FileManager.default.createDirectory(atPath: "\(node.path)/disk", withIntermediateDirectories: true)
        }
        let made = hasSmallDisks ? nodes.map { SmallDisk.make(at: "\($0.path)/disk", in: "\($0.path)/image") } : []
        disks = made.compactMap { $0 }.count == Self.size ? made.compactMap { $0 } : []
        chmod(folder, 0o755)
        if getuid() == 0 {
            let owner = Process()
            owner.executableURL = URL(fileURLWithPath: "/bin/chown")
            owner.arguments = ["-R", "postgres", folder]
            try owner.run()
            owner.waitUntilExit()
        }
    }

    /// `$0` is the folder.
    private static let reaperScript = """
        trap '' INT TERM HUP PIPE
        cat >/dev/null
        for round in 1 2 3 4 5; do
            for link in /proc/[0-9]*/cwd; do
                case "$(readlink "$link" 2>/dev/null)" in
                "$0"|"$0"/*) process=${link%/cwd}; kill -9 "${process#/proc/}" 2>/dev/null ;;
                esac
            done
            sleep 0.2
        done
        for disk in "$0"/node*/disk; do
            while grep -q " $disk " /proc/mounts; do umount "$disk" 2>/dev/null || umount -l "$disk" || break; done
        done
        rm -rf "$0"
        """

    /// Ends everything.
    func stop(keepsFolder: Bool) {
        for working in nodes + members {
            working.send(SIGCONT)
            working.killAll()
        }
        for proxy in doors + wires.joined() { proxy.close() }
        if !keepsFolder { for disk in disks { disk.remove() } }
        if keepsFolder {
            kill(reaper.processIdentifier, SIGKILL)
        } else {
            try? lifeline.fileHandleForWriting.close()
            reaper.waitUntilExit()
        }
    }

    // MARK: Programs

    func startMember(_ index: Int) throws {
        let all = (0..<Self.size).map { "etcd\($0)=http://127.0.0.1:\(port(Kind.peer, $0))" }.joined(separator: ",")
        let (client, peer) = (
            "http://127.0.0.1:\(port(Kind.etcd, index))", "http://127.0.0.1:\(port(Kind.peer, index))"
        )
        try members[index].start(
            [
                programs.etcd, "--name", "etcd\(index)", "--data-dir", "\(members[index].path)/data",
                "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
                "--initial-advertise-peer-urls", peer, "--initial-cluster", all, "--initial-cluster-state", "new",
                "--logger", "zap", "--log-level", "error",
            ], log: "\(members[index].path)/log")
    }

    /// Waits until the members of etcd have found each other, before which Patroni does not start.
    func waitForMembers() throws {
        for _ in 0..<300 {
            let answers = (0..<Self.size).map {
                try? HTTPQuestion.ask(.port(port(Kind.etcd, $0)), "GET", "/version", body: "", seconds: 1)
            }
            if answers.allSatisfy({ $0?.contains("etcdcluster") == true && $0?.contains("not_decided") == false }) {
                return
            }
            usleep(100_000)
        }
        throw ClusterError("the members of etcd do not find each other")
    }

    /// Copies servers anew that do not come up by themselves while another one leads: PostgreSQL may refuse a standby
    /// that was killed between two timelines, and an operator would do the same.
    ///
    /// - Parameters:
    ///   - state: what Patroni says.
    ///   - all: whether those are meant, too, of which Patroni says that they run: one after the other.
    /// - Throws: an error when a server cannot be started.
    func makeAnew(_ state: [Member], all: Bool) throws {
        guard let leader = state.first(where: { $0.isLeader && $0.isRunning }) else { return }
        for index in 0..<Self.size {
            guard let member = state.first(where: { $0.name == "node\(index)" }), member != leader,
                all || !member.isRunning || member.timeline != leader.timeline, member.state != "creating replica",
                now() - (madeAnew.values.max() ?? 0) > 20_000_000_000, now() - (madeAnew[index] ?? 0) > 40_000_000_000
            else { continue }
            print("  node\(index) is “\(member.state)” on timeline \(member.timeline ?? 0), and is copied anew")
            madeAnew[index] = now()
            nodes[index].killAll()
            try FileManager.default.removeItem(atPath: "\(nodes[index].path)/disk/data")
            try startNode(index)
        }
    }

    /// Starts what has ended by itself, as a machine's own supervisor does.
    func revive() throws {
        for index in 0..<Self.size {
            if nodes[index].processes(where: { $0 == "patroni" }).isEmpty { try startNode(index) }
            if members[index].processes().isEmpty { try startMember(index) }
        }
    }

    func startNode(_ index: Int) throws {
        let settings = "\(nodes[index].path)/patroni.yml"
        try configuration(index).write(toFile: settings, atomically: true, encoding: .utf8)
        try nodes[index].start([programs.patroni, settings], log: "\(nodes[index].path)/log")
    }

    private func configuration(_ index: Int) -> String {
        let wires = (0..<Self.size).map { "127.0.0.1:\(port(Kind.wire + UInt16(index), $0))" }.joined(separator: ",")
        return """
            scope: pippin
            name: node\(index)
            restapi:
              listen: 127.0.0.1:\(port(Kind.rest, index))
              connect_address: 127.0.0.1:\(port(Kind.rest, index))
            etcd3:
              hosts: \(wires)
              use_proxies: true
            bootstrap:
              dcs:
                ttl: 8
                loop_wait: 1
                retry_timeout: 3
                maximum_lag_on_failover: 104857600
                synchronous_mode: true
                synchronous_mode_strict: true
                postgresql:
                  use_pg_rewind: true
                  use_slots: true
                  parameters:
                    max_connections: 250
                    max_wal_size: 512MB
                    wal_keep_size: 256MB
                    wal_log_hints: 'on'
                    hot_standby: 'on'
                    wal_receiver_timeout: 5s
                    wal_sender_timeout: 5s
                    shared_buffers: 64MB
            \(disks.isEmpty ? "" : "        wal_recycle: 'off'")
              initdb:
              - encoding: UTF8
              - locale: C.UTF-8
            \(disks.isEmpty ? "" : "  - wal-segsize: '1'")
              pg_hba:
              - local all all trust
              - host all all 127.0.0.1/32 trust
              - host replication all 127.0.0.1/32 trust
            postgresql:
              listen: 127.0.0.1:\(port(Kind.server, index))
              connect_address: 127.0.0.1:\(port(Kind.door, index))
              data_dir: \(nodes[index].path)/disk/data
              bin_dir: \(programs.postgres)
              basebackup:
              - checkpoint: fast
              pgpass: \(nodes[index].path)/pgpass
              authentication:
                replication: {username: replicator, password: replicator}
                superuser: {username: postgres, password: postgres}
                rewind: {username: rewinder, password: rewinder}
              parameters:
                unix_socket_directories: \(nodes[index].path)
            """
    }
}
