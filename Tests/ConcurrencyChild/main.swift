import Foundation
import Pippin

/// The manager of a process that ends without letting it go, as that of a script is.
nonisolated(unsafe) var kept: PersistenceManager?

/// What went wrong in a task.
final class Failure: @unchecked Sendable {
    // @unchecked Sendable: the task sets it before it signals, and it is read after that.
    var error: (any Error)?
}

/// What a test of concurrency runs in a process of its own: `ConcurrencyChild VERB STORE NUMBER`.
///
/// Ends with 1 and the error's text when the work failed.
func run(_ arguments: [String]) throws {
    guard arguments.count == 3, let number = Int(arguments[2]) else { throw CocoaError(.featureUnsupported) }
    let url = URL(fileURLWithPath: arguments[1])
    func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
    switch arguments[0] {
    case "found": try Bank(at: url).found()
    case "bank":
        let name = "\(ProcessInfo.processInfo.processIdentifier)"
        say("\(try Bank(at: url).work(rounds: number, name: name))")
    case "save":
        let manager = Notes.old(at: url)
        throw Notes.save(in: manager, from: number) { say("\($0)") }
    case "migrate":
        let manager = Notes.new(at: url)
        try manager.openExplicitly(Notes.plan { usleep(UInt32(number)) }, nil)
    case "leave":
        let manager = Notes.old(at: url)
        kept = manager
        for note in 0..<number {
            try manager.writeAndWait { try $0.save(Notes.V1.Note(uid: note, text: "note \(note)")) }
        }
    case "label":
        for label in 0..<number {
            // Anew each time, as a script does that is run again and again.
            let manager = Notes.labels(at: url)
            try manager.writeAndWait { try $0.save(Notes.Label(uid: label, text: "label \(label)")) }
        }
    case "await":
        // Notes with this number and the next 99, each awaited by itself.
        let manager = Notes.old(at: url)
        let saved = DispatchSemaphore(value: 0)
        let failure = Failure()
        Task.detached {
            do {
                for note in number..<number + 100 {
                    try await manager.save(Notes.V1.Note(uid: note, text: "note \(note)"))
                }
            } catch { failure.error = error }
            saved.signal()
        }
        saved.wait()
        if let error = failure.error { throw error }
    case "tales": try Tales.work(at: url, seed: number, said: say)
    case "unused": for line in try UnusedContext.observe(at: url) { say(line) }
    default: throw CocoaError(.featureUnsupported)
    }
}

do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
    let text = "\((error as NSError).domain) \((error as NSError).code): \(error.localizedDescription)\n"
    FileHandle.standardError.write(Data(text.utf8))
    exit(1)
}
