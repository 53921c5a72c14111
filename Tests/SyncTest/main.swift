import Foundation
import SyncSimulation

// Runs devices and a server in memory, by seed, and prints what does not hold:
//
//     SyncTest [--seeds COUNT] [--from SEED] [--devices COUNT] [--steps COUNT] [--sabotage RULE]
//              [--log FILE]      (writes the messages of the shortest history)
//     SyncTest --broken COUNT …      (breaks each rule, in as many seeds, and prints what sees it)
//     SyncTest --trace SEED …        (prints the sum of one run, so that two processes can be compared)

let arguments = Array(CommandLine.arguments.dropFirst())
let options = ["--seeds", "--from", "--devices", "--steps", "--sabotage", "--trace", "--log", "--broken"]
var values: [String: String] = [:]
var place = 0
while place < arguments.count {
    let name = arguments[place]
    guard options.contains(name), place + 1 < arguments.count else {
        print("\(name) is not an option with a value. There are \(options.joined(separator: ", ")).")
        exit(2)
    }
    values[name] = arguments[place + 1]
    place += 2
}

@MainActor func number(_ name: String, _ standard: Int) -> Int {
    guard let text = values[name] else { return standard }
    guard let number = Int(text), number > 0 else {
        print("\(name) takes a number above 0, and is \(text).")
        exit(2)
    }
    return number
}

var sabotage: Sabotage?
if let name = values["--sabotage"] {
    sabotage = Sabotage(rawValue: name)
    if sabotage == nil {
        print("There is no sabotage \(name). There are \(Sabotage.allCases.map(\.rawValue).joined(separator: ", ")).")
        exit(2)
    }
}
let devices = number("--devices", 3)
let steps = number("--steps", 600)

@MainActor func parameters(_ seed: Int) -> Parameters {
    Parameters(seed: UInt64(seed), devices: devices, steps: steps, sabotage: sabotage)
}

if let path = values["--trace"], let file = values["--log"] {
    var lines: [String] = []
    let seed = Int(path) ?? 1
    _ = Simulation.run(parameters(seed), steps: Simulation.steps(of: parameters(seed))) { lines.append($0) }
    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
    exit(0)
}
if values["--trace"] != nil {
    print(String(Simulation.run(parameters(number("--trace", 1))).trace, radix: 16))
    exit(0)
}

if values["--broken"] != nil {
    let count = number("--broken", 100)
    var missed = 0
    for sabotage in Sabotage.allCases where sabotage != .isRandom {
        let found = (1...count).lazy.compactMap { seed -> (Int, Violation)? in
            let parameters = Parameters(seed: UInt64(seed), devices: devices, steps: steps, sabotage: sabotage)
            return Simulation.run(parameters).violation.map { (seed, $0) }
        }.first
        if let (seed, violation) = found {
            print("\(sabotage.rawValue): seed \(seed): \(violation)")
        } else {
            print("\(sabotage.rawValue): nothing sees it in \(count) seeds")
            missed += 1
        }
    }
    exit(missed == 0 ? 0 : 1)
}

/// The trace of a seed in another process, whose dictionaries have another order.
@MainActor func traceElsewhere(_ seed: Int) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments =
        ["--trace", "\(seed)", "--devices", "\(devices)", "--steps", "\(steps)"]
        + (sabotage.map { ["--sabotage", $0.rawValue] } ?? [])
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}

let first = number("--from", 1)
let count = number("--seeds", 100)
var tally: [String: Int] = [:]
for seed in first..<(first + count) {
    let result = Simulation.run(parameters(seed))
    tally.merge(result.tally, uniquingKeysWith: +)
    if let violation = result.violation {
        print("Seed \(seed): \(violation)")
        let shortest = Shrinking.shortest(parameters(seed), result)
        let again = Simulation.run(parameters(seed), steps: shortest)
        print("The shortest history that does this, of \(steps) steps:")
        for (place, step) in shortest.enumerated() { print("  \(place + 1). \(step)") }
        if let violation = again.violation { print("It ends with: \(violation)") }
        if let path = values["--log"] {
            var lines: [String] = []
            _ = Simulation.run(parameters(seed), steps: shortest) { lines.append($0) }
            try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        }
        exit(1)
    }
    // One in twenty is run again elsewhere.
    let trace = String(result.trace, radix: 16)
    if (seed - first) % 20 == 0, try traceElsewhere(seed) != trace {
        print("Seed \(seed): \(Invariant.sameSeedSameRun.rawValue): another process has another run.")
        exit(1)
    }
}
print("\(count) seeds from \(first), \(devices) devices, \(steps) steps each: all invariants hold.")
for (name, number) in tally.sorted(by: { $0.key < $1.key }) { print("  \(name): \(number)") }
