import CSQLiteBaseline
import Foundation

/// Peak memory of this process, from /proc; nil where there is no /proc.
enum PeakMemory {
    /// Counts from what is in use now. Where the system does not allow it, the count goes on from the start.
    static func restart() {
        #if os(Linux)
            malloc_trim(0)
        #endif
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    static var megabytes: Double? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) }.map { $0 / 1024 }
        }
        return nil
    }
}

/// Keeps freed memory in the process. Else it goes back to the system now and then, and whoever comes next pays for
/// getting it again: with luck the other side.
func keepFreedMemory() {
    #if os(Linux)
        mallopt(M_TRIM_THRESHOLD, CInt.max)
        mallopt(M_MMAP_THRESHOLD, CInt.max)
    #endif
}

/// What time is measured with.
enum Clock: String {
    /// Time that passes.
    case wall
    /// Time that this process has the processors for: steadier on a machine with other work to do, blind to waiting.
    case cpu

    func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }

    private var now: Double {
        var time = timespec()
        clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension [Double] {
    var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
