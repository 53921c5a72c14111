import CAllocationCount
import Foundation

/// Measures works: both sides in turn, round after round, so that a slow moment of the machine hits both.
struct Bench {
    let workspace: Workspace
    let clock: Clock

    struct Result {
        let work: Work
        let objects: Int
        let ours: Double
        let baseline: Double
        var ratio: Double { ours / baseline }
        func microseconds(_ time: Double) -> Double { time * 1e6 / Double(work.operations(objects)) }
    }

    func measure(_ work: Work, objects: Int, rounds: Int) throws -> Result {
        var ours: [Double] = []
        var baseline: [Double] = []
        for round in 0..<rounds {
            // Who goes first changes, so that neither always finds the caches warm.
            if round % 2 == 0 {
                let (first, firstResult) = try time(work.baseline, objects)
                let (second, secondResult) = try time(work.ours, objects)
                try compare(work, firstResult, secondResult)
                baseline.append(first)
                ours.append(second)
            } else {
                let (first, firstResult) = try time(work.ours, objects)
                let (second, secondResult) = try time(work.baseline, objects)
                try compare(work, secondResult, firstResult)
                ours.append(first)
                baseline.append(second)
            }
        }
        return Result(work: work, objects: objects, ours: ours.median, baseline: baseline.median)
    }

    /// What one operation costs besides time, in a run of its own.
    func cost(_ side: Side, _ work: Work, objects: Int) throws -> Report.Cost {
        let trial = try side(workspace, objects)
        let (allocations, instructions) = (allocation_count(), instruction_count())
        _ = try trial.run()
        let (moreAllocations, moreInstructions) = (allocation_count(), instruction_count())
        try trial.finish()
        if trial.changesStore { workspace.discard(trial.store) }
        let operations = Double(work.operations(objects))
        return Report.Cost(
            allocations: Double(moreAllocations - allocations) / operations,
            instructions: instructions < 0 ? nil : Double(moreInstructions - instructions) / operations)
    }

    /// Peak memory of a process of its own that runs one side once, in megabytes.
    func memory(_ work: Work, isOurs: Bool, objects: Int) throws -> Double? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [isOurs ? "--alone-ours" : "--alone-baseline", work.title, "--size", String(objects)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func time(_ side: Side, _ objects: Int) throws -> (Double, Outcome) {
        let trial = try side(workspace, objects)
        var checksum = Checksum()
        let time = try clock.seconds { checksum = try trial.run() }
        try trial.finish()
        let outcome = Outcome(
            read: checksum, written: trial.changesStore ? try Baseline(path: trial.store).summary() : [])
        if trial.changesStore { workspace.discard(trial.store) }
        return (time, outcome)
    }

    private func compare(_ work: Work, _ baseline: Outcome, _ ours: Outcome) throws {
        guard baseline == ours else {
            throw DifferentOutcome(message: "\(work.title): the C API's outcome is \(baseline), ours \(ours)")
        }
    }
}

/// What a run read and what it left in the store.
private struct Outcome: Equatable {
    let read: Checksum
    let written: [Int64]
}

struct DifferentOutcome: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}
