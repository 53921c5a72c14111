import Foundation

/// The three files that a program is started with.
enum StandardStreams {
    /// Puts something in the place of those that are closed: the next file that is opened would get their number, and be
    /// written to.
    static func replaceClosed() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // What cannot be written to fails when it is written to, as a closed file does.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
