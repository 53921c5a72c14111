import Foundation

/// The three files that a program is started with.
package enum StandardStreams {
    /// Puts something in the place of those that are closed: the next file that is opened would get their number, and be
    /// written to.
    package static func replaceClosed() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // What cannot be written to fails when it is written to, as a closed file does.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Says something on the standard error output; when that cannot be written, nothing is left to do.
    package static func complain(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Ends the program as Unix tools end whose reader has stopped reading, and whose callers can tell: by `SIGPIPE`.
    package static func endUnread() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        exit(128 + SIGPIPE)
    }
}
