import Foundation
import StoreReading

StandardStreams.replaceClosed()
// A reader that has seen enough closes the pipe; that is an error to handle.
signal(SIGPIPE, SIG_IGN)
let output = OutputBuffer(STDOUT_FILENO)
do {
    try PostgresCommand.run(Array(CommandLine.arguments.dropFirst())) { try output.write($0) }
    try output.flush()
} catch is PostgresCommand.Misuse {
    StandardStreams.complain(PostgresCommand.usage + "\n")
    exit(64)
} catch is OutputBuffer.Closed {
    StandardStreams.endUnread()
} catch {
    // What was said before the error is said before it.
    try? output.flush()
    let message = (error as? CommandError)?.message ?? (error as NSError).localizedDescription
    StandardStreams.complain("pippin-postgres: \(message)\n")
    exit(1)
}
