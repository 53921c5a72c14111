import CLibEdit
import CoreDataModel
import Foundation
import StoreReading
import Synchronization

/// Lines typed at a terminal, with history and completion by libedit.
enum LineEditor {
    /// The model for completions. libedit's callback takes no context.
    private static let layout = Mutex<ModelLayout?>(nil)

    /// Has the terminal put back as it is now if a signal ends the program: libedit would leave it without echo.
    static func keepTerminal() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        EndingSignals.perform { [settings] in
            var settings = settings
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
    }

    /// Has what is typed read as UTF-8.
    static func readUTF8() { line_editor_read_utf8() }

    /// Asks for lines until there are no more.
    ///
    /// - Parameters:
    ///   - model: the model whose entities and keys are completed.
    ///   - history: the file of the typed lines.
    ///   - answer: handles a line, and returns whether to go on.
    static func run(_ model: ModelLayout, history: String, _ answer: (String) -> Bool) {
        layout.withLock { $0 = model }
        readUTF8()
        line_editor_complete_by { _, _, _ in LineEditor.complete() }
        try? FileManager.default.createDirectory(
            atPath: (history as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        using_history()
        line_editor_clear_by_interrupt()
        read_history(history)
        stifle_history(1000)
        var last = ""
        while let typed = read() {
            defer { free(typed) }
            let line = String(cString: typed).trimmingCharacters(in: .whitespaces)
            if !line.isEmpty, line != last {
                add_history(line)
                save(history)
            }
            last = line
            if !answer(line) { break }
        }
    }

    /// A line, which Ctrl-C clears while it is typed. Afterwards Ctrl-C is the terminal's signal again.
    private static func read() -> UnsafeMutablePointer<CChar>? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return readline("pippin> ") }
        defer { tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
        var typing = settings
        withUnsafeMutableBytes(of: &typing.c_cc) { $0[Int(VINTR)] = 0 }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &typing)
        return readline("pippin> ")
    }

    /// Writes the history, with each line, since the program may be ended by a signal. Queries may contain private
    /// values, so only the user may read the file.
    private static func save(_ history: String) {
        let mask = umask(0o077)
        defer { umask(mask) }
        write_history(history)
    }

    /// The part of a line before the cursor, whose place libedit counts in code points. Pure.
    static func beginning(of line: String, to cursor: Int) -> String { String(line.unicodeScalars.prefix(cursor)) }

    /// The result for libedit: the common prefix, the choices, and a null pointer. libedit frees all of it.
    private static func complete() -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        line_editor_no_files()
        let text = beginning(of: String(cString: line_editor_text()), to: Int(line_editor_cursor()))
        guard let layout = layout.withLock({ $0 }) else { return nil }
        let found = ShellLine.completions(text, layout)
        guard let first = found.first else { return nil }
        let shared = found.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        let all = (found.count == 1 ? [] : [shared]) + found
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: all.count + 1)
        for (index, choice) in all.enumerated() { list[index] = strdup(choice) }
        list[all.count] = nil
        return list
    }
}
