import Foundation

/// What goes wrong with the servers themselves, or is missing.
struct ClusterError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The programs of a cluster.
struct Programs {
    let postgres: String
    let patroni: String
    let etcd: String

    /// - Throws: an error that names what is missing.
    static func found() throws -> Programs {
        func path(_ name: String, _ folders: [String]) -> String? {
            folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
        }
        let usual = ["/usr/bin", "/usr/local/bin", "/usr/sbin"]
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
        guard let initdb = path("initdb", folders + usual), let patroni = path("patroni", usual),
            let etcd = path("etcd", usual)
        else {
            throw ClusterError(
                "PostgreSQL's server, Patroni or etcd is missing; Scripts/install-dependencies --cluster installs them")
        }
        return Programs(postgres: String(initdb.dropLast("/initdb".count)), patroni: patroni, etcd: etcd)
    }
}

/// Programs that work in a folder: those that were started there, and what they have started.
struct WorkingFolder {
    let path: String

    /// The numbers of the processes whose working folder is this one, or lies in it.
    ///
    /// - Parameter isIncluded: gets the name of each program.
    /// - Returns: the numbers.
    func processes(where isIncluded: (String) -> Bool = { _ in true }) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            guard let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd"),
                folder == path || folder.hasPrefix(path + "/")
            else { return false }
            let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
            return isIncluded(name.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    func send(_ signal: Int32, where isIncluded: (String) -> Bool = { _ in true }) {
        for process in processes(where: isIncluded) { kill(process, signal) }
    }

    /// Kills what works here, and waits until it is gone.
    func killAll(where isIncluded: (String) -> Bool = { _ in true }) {
        for _ in 0..<200 {
            let rest = processes(where: isIncluded)
            if rest.isEmpty { return }
            for process in rest { kill(process, SIGKILL) }
            usleep(20_000)
        }
    }

    /// Starts a program here, as the user that servers run as.
    func start(_ command: [String], log: String) throws {
        // The shell ends at once, so that nobody waits for the program.
        let run =
            getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups -- setsid" : "setsid"
        let script = "cd \"$0\" && log=$1 && shift && \(run) \"$@\" </dev/null >>\"$log\" 2>&1 &"
        let arguments = ["/bin/sh", "-c", script, path, log] + command
        // Foundation's processes are not over as long as what they have started runs.
        var (pointers, process) = (arguments.map { strdup($0) } + [nil], pid_t(0))
        defer { for pointer in pointers { free(pointer) } }
        let result = posix_spawn(&process, "/bin/sh", nil, nil, &pointers, environ)
        guard result == 0 else { throw ClusterError("\(command[0]) could not be started (\(result))") }
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
