import Foundation

@main
struct Main {
    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            let workspace = try Workspace()
            if let alone = options.alone {
                try runAlone(alone, size: options.size, in: workspace)
            } else {
                keepFreedMemory()
                var report = Report(clock: options.clock.rawValue, rounds: options.rounds, objects: options.size)
                try measure(options, Bench(workspace: workspace, clock: options.clock), &report)
                try write(report, options)
            }
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func write(_ report: Report, _ options: Options) throws {
        if let file = options.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(report).write(to: URL(fileURLWithPath: file))
        }
        if let file = options.plot { try Data(Plot(report: report).svg.utf8).write(to: URL(fileURLWithPath: file)) }
    }

    private static func measure(_ options: Options, _ bench: Bench, _ report: inout Report) throws {
        for table in allTables {
            let works = table.works.filter { options.only.map($0.title.contains) ?? true }
            guard !works.isEmpty else { continue }
            print("\(grouped(options.size)) \(table.heading), median of \(options.rounds) rounds\n")
            try printTable(table, works, options, bench, &report)
            print("")
        }
        try ResultsWork.report(options, bench)
        try MigrationWork.report(options, bench)
        try ThreadWork.report(options, bench)
        try ModelAccess.report(options)
        let predicateWorks = allPredicateWorks.filter { options.only.map($0.title.contains) ?? true }
        if !predicateWorks.isEmpty {
            print("\nPredicates: nanoseconds and allocations each time, median of \(options.rounds) rounds\n")
            try printPredicateTable(predicateWorks, options, bench)
        }
        // Coding costs the same at any size.
        let works = allTables.filter(\.isOfAnySize).flatMap(\.works).filter {
            (options.only.map($0.title.contains) ?? true) && !$0.title.hasSuffix("Codable")
        }
        let memoryWorks = allMemoryWorks.filter { options.only.map($0.title.contains) ?? true }
        if !memoryWorks.isEmpty {
            print("\nMemory: bytes for each live object of six attributes, of \(grouped(options.size))\n")
            print(try memoryTable(memoryWorks, bench, objects: options.size))
        }
        if !options.sizes.isEmpty, !works.isEmpty {
            print("\nMicroseconds per object, as the number of objects in the store grows\n")
            try printFlatness(works, options, bench)
        }
    }

    private static func printTable(
        _ group: WorkTable, _ works: [Work], _ options: Options, _ bench: Bench, _ report: inout Report
    ) throws {
        var table = Table(
            header: [
                "", group.ours, group.baseline, "ratio", "budget", "peak memory", "\(group.baseline)’s", "allocations",
                "\(group.baseline)’s", "instructions", "\(group.baseline)’s",
            ])
        for work in works {
            let result = try bench.measure(work, objects: options.size, rounds: options.rounds)
            var ours = try bench.cost(work.ours, work, objects: options.size)
            var baseline = try bench.cost(work.baseline, work, objects: options.size)
            ours.peakMemory = try bench.memory(work, isOurs: true, objects: options.size)
            baseline.peakMemory = try bench.memory(work, isOurs: false, objects: options.size)
            table.add([
                work.title, milliseconds(result.ours), milliseconds(result.baseline),
                String(format: "%.2f", result.ratio), work.budget.map { String(format: "%.2f", $0) } ?? "",
                megabytes(ours.peakMemory), megabytes(baseline.peakMemory), each(ours.allocations),
                each(baseline.allocations), each(ours.instructions), each(baseline.instructions),
            ])
            report.works.append(
                Report.Entry(
                    table: group.heading, title: work.title, against: group.baseline,
                    operations: work.operations(options.size),
                    ours: result.ours * 1000, baseline: result.baseline * 1000, ratio: result.ratio,
                    budget: work.budget, oursEach: ours, baselineEach: baseline))
        }
        print(table.text)
    }

    private static func printPredicateTable(
        _ works: [PredicateWork], _ options: Options, _ bench: Bench
    ) throws {
        var table = Table(header: ["", "time", "budget", "allocations"])
        for work in works {
            let result = try work.measure(bench, objects: options.size, rounds: options.rounds)
            table.add([
                work.title, String(format: "%.0f ns", result.nanoseconds),
                work.budget.map { String(format: "%.0f ns", $0) } ?? "", String(format: "%.1f", result.allocations),
            ])
        }
        print(table.text)
    }

    private static func printFlatness(_ works: [Work], _ options: Options, _ bench: Bench) throws {
        var table = Table(header: [""] + options.sizes.flatMap { [grouped($0), "ratio"] })
        for work in works {
            var row = [work.title]
            for size in options.sizes {
                let rounds = size > 200_000 ? 3 : options.rounds
                let result = try bench.measure(work, objects: size, rounds: rounds)
                row.append(String(format: "%.2f", result.microseconds(result.ours)))
                row.append(String(format: "%.2f", result.ratio))
            }
            table.add(row)
        }
        print(table.text)
    }

    /// Runs one side once and prints what memory the process needed at most.
    private static func runAlone(_ alone: (title: String, isOurs: Bool), size: Int, in workspace: Workspace) throws {
        let works = allWorks + MigrationWork.all
        guard let work = works.first(where: { $0.title == alone.title }) else {
            throw UsageError(message: "there is no work '\(alone.title)'")
        }
        let trial = try (alone.isOurs ? work.ours : work.baseline)(workspace, size)
        PeakMemory.restart()
        _ = try trial.run()
        print(PeakMemory.megabytes.map { String($0) } ?? "")
    }

    /// What one operation costs.
    static func each(_ number: Double?) -> String {
        number.map { String(format: $0 < 10 ? "%.1f" : "%.0f", $0) } ?? "?"
    }
    static func milliseconds(_ time: Double) -> String { String(format: "%.1f ms", time * 1000) }
    static func megabytes(_ size: Double?) -> String { size.map { String(format: "%.0f MB", $0) } ?? "?" }

    static func grouped(_ number: Int) -> String {
        var digits = String(number)
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: position))
            position -= 3
        }
        return digits
    }
}
