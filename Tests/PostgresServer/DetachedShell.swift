import Foundation

/// Runs a script that goes on for as long as its input is open, in a shell that keeps nothing else of the test process
/// open.
///
/// A program that is started while another one is being started can get descriptors that are meant for that one: among
/// them the socket whose end tells Foundation's `Process` that its program has ended. In a server, which lives as long
/// as the tests do, such a socket would let `waitUntilExit()` wait for ever.
enum DetachedShell {
    /// - Parameters:
    ///   - script: what the shell runs. Its output and errors go nowhere, unless it sends them somewhere.
    ///   - arguments: what the script knows as `$0`, `$1` and so on.
    ///   - input: what the script reads.
    /// - Throws: the errors of `Process` where the shell does not start.
    static func run(_ script: String, _ arguments: [String], input: FileHandle) throws {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", closing + "(\n\(script)\n) <&\(spare) \(spare)<&- &"] + arguments
        shell.standardInput = input
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        try shell.run()
        shell.waitUntilExit()
    }

    /// What runs in the background would get no input: it gets a copy under this number.
    private static let spare = 250

    /// Closes what was passed along. The shell itself ends at once.
    private static let closing = """
        for descriptor in /dev/fd/*; do
            descriptor=${descriptor##*/}
            [ "$descriptor" -le 2 ] || eval "exec $descriptor>&-"
        done
        exec \(spare)<&0

        """
}
