import Foundation

// Breaks a cluster of PostgreSQL servers, and looks whether anything is lost:
//
//     cluster-test [--seed N] [--faults N] [--seconds N] [--clients N] [--port N] [--only KIND]
//     cluster-test measure [--port N]                        (breaks nothing, and says how much it does)
//     cluster-test client NUMBER CONNECTION FOLDER SEED      (what it starts itself)

signal(SIGPIPE, SIG_IGN)
let arguments = Array(CommandLine.arguments.dropFirst())
do {
    if arguments.first == "client", arguments.count == 5, let number = Int(arguments[1]),
        let seed = UInt64(arguments[4])
    {
        if NameClient.isOne(number) {
            try await NameClient(number, arguments[2], arguments[3], seed: seed).run()
        } else {
            try Client(number, arguments[2], arguments[3], seed: seed).run()
        }
        exit(0)
    }
    func value(_ name: String) -> Int? {
        arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? Int(arguments[$0 + 1]) : nil }
    }
    if arguments.first == "work", arguments.count == 6, let number = Int(arguments[3]),
        let seconds = Double(arguments[4])
    {
        let count = try Measurement.work(arguments[1], arguments[2], number: number, seconds: seconds)
        try "\(count)".write(toFile: arguments[5], atomically: true, encoding: .utf8)
        exit(0)
    }
    let known = ["--seed", "--faults", "--seconds", "--clients", "--port", "--only"]
    if let unknown = arguments.first(where: { $0.hasPrefix("-") && !known.contains($0) }) {
        print("There is no option \(unknown); there are \(known.joined(separator: ", ")), each with a value.")
        exit(2)
    }
    if arguments.first == "measure" {
        try Measurement.run(firstPort: value("--port").flatMap { UInt16(exactly: $0) } ?? 15400)
        exit(0)
    }
    var trial = Trial(
        seed: value("--seed").map { UInt64($0) } ?? UInt64.random(in: 1...999_999), faults: value("--faults") ?? 200,
        seconds: value("--seconds") ?? 7200)
    if let clients = value("--clients") { trial.clients = clients }
    if let port = value("--port").flatMap({ UInt16(exactly: $0) }) { trial.firstPort = port }
    if let place = arguments.firstIndex(of: "--only"), arguments.indices.contains(place + 1) {
        trial.only = arguments[place + 1]
    }
    exit(try trial.run() ? 0 : 1)
} catch {
    print("The test of the cluster failed: \(error)")
    exit(1)
}
