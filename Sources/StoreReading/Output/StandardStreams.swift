import Foundation

/// The three files that a program is started with.
package enum StandardStreams {
    /// Replaces those that are closed: otherwise the next opened file would get their number, and be written to.
    package static func replaceClosed() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // Opened for the opposite access, so that using it fails, as with a closed file.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes to the standard error output; a failure to do so is ignored.
    package static func complain(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Ends the program like Unix tools whose reader has stopped reading, recognizably for its caller: by `SIGPIPE`.
    package static func endUnread() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        exit(128 + SIGPIPE)
    }
}
