import Foundation
import StoreReading

/// Runs a program that is built apart, in place of this one: for `pippin browse`, for `pippin shell`, and for stores on
/// servers.
enum ProgramLauncher: String {
    case browse, shell, postgres

    /// The packages of Debian that the program is built with.
    private var packages: String {
        switch self {
        case .browse: "libmicrohttpd-dev libpq-dev"
        case .shell: "libedit-dev"
        case .postgres: "libpq-dev libcurl4-openssl-dev libmicrohttpd-dev"
        }
    }

    /// Where the program may be: beside this one, then in `PATH`.
    func candidates(executable: String?, path: String) -> [String] {
        let own =
            executable.map { [URL(fileURLWithPath: $0).resolvingSymlinksInPath().deletingLastPathComponent().path] }
            ?? []
        return (own + path.split(separator: ":").map(String.init)).map { $0 + "/pippin-\(rawValue)" }
    }

    /// Becomes the program, so that it returns only with an error.
    func run(_ arguments: [String]) throws -> Never {
        let environment = ProcessInfo.processInfo.environment
        let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        for program in candidates(executable: executable, path: environment["PATH"] ?? "")
        where FileManager.default.isExecutableFile(atPath: program) {
            // The other program handles signals itself.
            var signals = sigset_t()
            sigemptyset(&signals)
            pthread_sigmask(SIG_SETMASK, &signals, nil)
            var words = ([program] + arguments).map { strdup($0) } + [nil]
            execv(program, &words)
            throw CommandError("“\(program)” cannot be run: \(String(cString: strerror(errno)))")
        }
        throw CommandError(
            "there is no program “pippin-\(rawValue)”, neither beside pippin nor in PATH. It needs more libraries than pippin, so it is built apart: "
                + "apt install \(packages); swift build -c release --product pippin-\(rawValue)")
    }
}
