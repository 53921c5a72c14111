import Foundation

// A reader that has seen enough closes the pipe; that is an error to handle, so that the private copy is cleaned up.
signal(SIGPIPE, SIG_IGN)
let standardOutput = OutputBuffer(FileHandle.standardOutput)
let status = PippinCommand.run(
    Array(CommandLine.arguments.dropFirst()),
    output: { try standardOutput.write($0) },
    errors: { FileHandle.standardError.write(Data($0.utf8)) })
exit(standardOutput.flush() ? status : PippinCommand.success)
