import Foundation
import StoreReading

StandardStreams.replaceClosed()
// A reader that has seen enough closes the pipe; that is an error to handle, so that the private copy is cleaned up.
signal(SIGPIPE, SIG_IGN)
EndingSignals.block()
let arguments = Array(CommandLine.arguments.dropFirst())
if PippinCommand.onlyReads(arguments) {
    CarefulReading.begin(limitsDocuments: !PippinCommand.copies(arguments))
}
EndingSignals.perform { LogFiles.waitUntilLeft() }
let standardOutput = OutputBuffer(STDOUT_FILENO)
let standardErrors = OutputBuffer(STDERR_FILENO)
let status = PippinCommand.run(
    arguments, bytes: ArgumentBytes.ofProcess,
    terminal: Terminal(environment: ProcessInfo.processInfo.environment),
    output: { try standardOutput.write($0) }, finish: { try standardOutput.flush() },
    errors: {
        // When errors cannot be written, nothing is left to do.
        try? standardErrors.write($0)
        try? standardErrors.flush()
    })
if status == PippinCommand.outputClosed { StandardStreams.endUnread() }
exit(status)
