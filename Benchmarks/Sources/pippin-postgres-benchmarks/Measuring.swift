import Foundation

/// Wall time and processor time of the client, in milliseconds.
struct Measure {
    var wall: Double
    var processor: Double

    static func of(_ body: () throws -> Void) rethrows -> Measure {
        let (start, used) = (DispatchTime.now().uptimeNanoseconds, processorTime())
        try body()
        let end = DispatchTime.now().uptimeNanoseconds
        return Measure(wall: Double(end - start) / 1e6, processor: processorTime() - used)
    }

    static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000
    }
}

/// The fastest of several runs of both, which take turns. A second argument of the program behind the size leaves out
/// the works without it in their names.
func compare(
    _ name: String, atMost goal: Double, runs: Int = 5, byHand: () throws -> Measure, ours: () throws -> Measure
) rethrows {
    guard CommandLine.arguments.count < 4 || name.contains(CommandLine.arguments[3]) else { return }
    var (hand, own): (Measure?, Measure?)
    for _ in 0..<runs {
        let (one, other) = (try byHand(), try ours())
        if one.wall < hand?.wall ?? .infinity { hand = one }
        if other.wall < own?.wall ?? .infinity { own = other }
    }
    guard let hand, let own else { return }
    let factor = own.wall / hand.wall
    let columns = [
        name.padding(toLength: 52, withPad: " ", startingAt: 0), String(format: "%9.1f", hand.wall),
        String(format: "%9.1f", own.wall), String(format: "%9.1f", hand.processor),
        String(format: "%9.1f", own.processor),
        String(format: "%7.2f", factor), String(format: "%5.1f", goal), factor <= goal ? "" : "  over",
    ]
    print(columns.joined())
}
