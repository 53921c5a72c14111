import CLibEdit
import CoreDataModel
import Foundation
import StoreReading
import Synchronization

/// Lines typed at a terminal, with history and completion by libedit.
enum LineEditor {
    /// What the library's function, which takes no context, completes by.
    private static let layout = Mutex<ModelLayout?>(nil)
    private static let choices = Mutex<[String]>([])

    static func run(_ session: Session, history: String) -> Int32 {
        layout.withLock { $0 = session.store.layout }
        line_editor_complete_by { _, _, _ in LineEditor.complete() }
        try? FileManager.default.createDirectory(
            atPath: (history as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        using_history()
        read_history(history)
        stifle_history(1000)
        print("\(session.store.name): queries, such as “\(example(session))”; .help says more.")
        var last = ""
        while let typed = readline("pippin> ") {
            defer { free(typed) }
            let line = String(cString: typed).trimmingCharacters(in: .whitespaces)
            if !line.isEmpty, line != last { add_history(line) }
            last = line
            do {
                guard try session.answer(line, { print($0, terminator: "") }) else { break }
            } catch {
                print(Session.message(of: error))
            }
        }
        // What was asked for may be nobody else's business.
        umask(0o077)
        write_history(history)
        return 0
    }

    private static func example(_ session: Session) -> String {
        "\(session.store.layout.entities.first { !$0.isAbstract }?.name ?? "Book") limit 20"
    }

    /// The library's answer: what all choices begin with, the choices, and nothing; all of it is freed by the library.
    private static func complete() -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        line_editor_no_files()
        let text = String(cString: line_editor_text()).utf8.prefix(Int(line_editor_cursor()))
        guard let layout = layout.withLock({ $0 }) else { return nil }
        let found = ShellLine.completions(String(decoding: text, as: UTF8.self), layout)
        guard let first = found.first else { return nil }
        let shared = found.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        let all = (found.count == 1 ? [] : [shared]) + found
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: all.count + 1)
        for (index, choice) in all.enumerated() { list[index] = strdup(choice) }
        list[all.count] = nil
        return list
    }
}
