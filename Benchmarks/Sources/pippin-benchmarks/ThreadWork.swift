import Foundation
import Pippin

/// How many threads a process has whose stores are open and idle.
enum ThreadWork {
    static let title = "threads of a process with 40 stores open and idle"
    private static let budget = 8

    static func report(_ options: Options, _ bench: Bench) throws {
        guard options.only.map(title.contains) ?? true, let now = threads else { return }
        // Managers listen for changes by other programs.
        var managers: [PersistenceManager] = []
        for _ in 0..<40 {
            let manager = try Book.manager(store: bench.workspace.newStore())
            try manager.writeAndWait { try $0.save(Sample.make(10).map(Book.init)) }
            managers.append(manager)
        }
        let working = threads ?? now
        // The system takes idle threads back after some seconds.
        Thread.sleep(forTimeInterval: 8)
        print(
            "\n\(title): \(threads ?? now), budget \(budget); \(now) before, \(working) while they are opened and saved to"
        )
        for manager in managers { try manager.close() }
    }

    /// The threads of this process; nil where there is no /proc.
    private static var threads: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
}
