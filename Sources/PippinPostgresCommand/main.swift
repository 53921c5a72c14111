import Foundation
import StoreCommands
import StoreReading

StandardStreams.replaceClosed()
// A reader that has seen enough closes the pipe; that is an error to handle.
signal(SIGPIPE, SIG_IGN)
EndingSignals.block()
let output = OutputBuffer(STDOUT_FILENO)
do {
    try PostgresCommand.run(
        Array(CommandLine.arguments.dropFirst()), Terminal(environment: ProcessInfo.processInfo.environment),
        { try output.write($0) }, errors: { StandardStreams.complain($0) })
    try output.flush()
} catch is PostgresCommand.Misuse {
    StandardStreams.complain(PostgresCommand.usage + "\n")
    exit(64)
} catch let error as UsageError {
    StandardStreams.complain("pippin-postgres: \(error.message)\n")
    exit(64)
} catch is EndingSignals.Ended {
    // The signal ends the program in a moment.
    while true { sleep(1) }
} catch is OutputBuffer.Closed {
    StandardStreams.endUnread()
} catch {
    // What was said before the error is said before it.
    try? output.flush()
    let message = (error as? CommandError)?.message ?? (error as NSError).localizedDescription
    StandardStreams.complain("pippin-postgres: \(message)\n")
    exit(1)
}
