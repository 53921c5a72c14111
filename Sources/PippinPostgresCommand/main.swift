import Foundation
import StoreReading

StandardStreams.replaceClosed()
// A reader may close the pipe early, which is then an error to handle rather than a signal.
signal(SIGPIPE, SIG_IGN)
EndingSignals.block()
let isSync = CommandLine.arguments.dropFirst().first.map { ["sync", "sync-server"].contains($0) } ?? false
// Files are copied from here, and made; only a sync changes them in their place.
if !isSync { CarefulReading.begin() }
let output = OutputBuffer(STDOUT_FILENO)
do {
    try PostgresCommand.run(
        Array(CommandLine.arguments.dropFirst()), Terminal(environment: ProcessInfo.processInfo.environment),
        {
            try output.write($0)
            // What a sync says shows at once.
            if isSync { try output.flush() }
        }, errors: { StandardStreams.complain($0) })
    try output.flush()
} catch is PostgresCommand.Misuse {
    StandardStreams.complain(PostgresCommand.usage + "\n")
    exit(64)
} catch let error as UsageError {
    StandardStreams.complain("pippin-postgres: \(error.message)\n")
    exit(64)
} catch is EndingSignals.Ended {
    // The signal will end the program shortly.
    while true { sleep(1) }
} catch is SyncCommand.Refused {
    try? output.flush()
    exit(3)
} catch is OutputBuffer.Closed {
    StandardStreams.endUnread()
} catch {
    // Earlier output must precede the error message.
    try? output.flush()
    let message = (error as? CommandError)?.message ?? (error as NSError).localizedDescription
    StandardStreams.complain("pippin-postgres: \(TextTools.plainLines(message))\n")
    exit(1)
}
