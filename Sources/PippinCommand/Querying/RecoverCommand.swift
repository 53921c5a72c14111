import Foundation
import StoreReading

/// `pippin recover`: what a store's files have of objects that were deleted or changed.
enum RecoverCommand {
    /// How many objects came from where, by entity.
    private struct Counts {
        var byOrigin: [String: Int] = [:]
        var byEntity: [String: Int] = [:]

        mutating func add(_ object: FoundObject, _ origin: StoreRecovery.Origin) {
            byOrigin[FoundText.kind(origin), default: 0] += 1
            if case .found = origin { byEntity[object.entityName ?? object.table, default: 0] += 1 }
        }
    }

    static func run(
        _ options: RecoverOptions, _ progress: ProgressLine, _ output: (String) throws -> Void,
        warn: (String) -> Void
    ) throws {
        defer { progress.end() }
        let folder = try makeFolder(options.output)
        let recovery = try StoreRecovery(at: options.store, modelPath: options.model, commit: options.commit)
        for text in recovery.warnings { warn(text) }
        let known = recovery.warnings.count
        var counts = Counts()
        let store = try FoundStore(at: folder.appendingPathComponent("found.sqlite"))
        try OutputFile.write(to: folder.appendingPathComponent("objects.jsonl").path) { file in
            try recovery.forEachObject(
                includesLive: !options.leavesOutLive, progress: { progress.say("looking for what is gone", $0) }
            ) { object, origin in
                try FoundText.write(object, origin, options.style, file)
                try store.add(object, origin)
                counts.add(object, origin)
            }
        }
        try store.finish()
        for text in recovery.warnings.dropFirst(known) { warn(text) }
        let gaps = recovery.keyGaps
        try OutputFile.write(to: folder.appendingPathComponent("summary.json").path) {
            try $0(summary(recovery, counts, gaps))
        }
        try recovery.checkFiles()
        progress.end()
        try output(text(recovery, counts, gaps, options.output))
    }

    private static func makeFolder(_ path: String) throws -> URL {
        let url = URL(fileURLWithPath: path)
        if mkdir(url.path, 0o700) != 0 {
            guard errno == EEXIST else {
                throw CommandError("“\(path)” cannot be made: \(String(cString: strerror(errno)))")
            }
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: url.path), names.isEmpty else {
                throw CommandError("“\(path)” is there already; a folder to make, or an empty one, expected")
            }
        }
        return url
    }

    private static func text(
        _ recovery: StoreRecovery, _ counts: Counts, _ gaps: [KeyGaps], _ folder: String
    ) -> String {
        var lines = [TextTools.inOneLine(recovery.original.lastPathComponent), ""]
        if let log = recovery.log {
            let rounds = (log.frames.last?.round ?? 0) + 1
            lines.append(
                "  log                \(TextTools.count(log.frames.count, "frame")), \(TextTools.count(log.commits.count, "commit"))"
                    + (rounds > 1 ? ", \(rounds - 1) earlier \(rounds == 2 ? "round" : "rounds") in part" : ""))
        }
        lines += counts.byOrigin.sorted { $0.key < $1.key }.map {
            "  \(TextTools.padded($0.key, 17))  \(TextTools.count($0.value, "object"))"
        }
        let found = counts.byEntity.sorted { $0.key < $1.key }
        lines += found.isEmpty ? ["", "Nothing was found that the store does not have."] : ["", "Found:"]
        lines += found.map { "  \(TextTools.inOneLine($0.key))   \(TextTools.grouped(Int64($0.value)))" }
        if !gaps.isEmpty { lines += ["", "Numbers without objects:"] + gaps.map { "  \($0.text())" } }
        return lines.joined(separator: "\n") + "\n\n“\(folder)” was written\n"
    }

    private static func summary(_ recovery: StoreRecovery, _ counts: Counts, _ gaps: [KeyGaps]) -> String {
        func numbers(_ counts: [String: Int]) -> String {
            JSONText.object(counts.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })
        }
        let runs = gaps.map { gap in
            JSONText.object([
                ("entity", JSONText.string(gap.entity)), ("handedOut", "\(gap.greatest)"),
                ("objects", "\(gap.count)"), ("absent", "\(gap.absent)"), ("runs", "\(gap.runCount)"),
                (
                    "first",
                    "["
                        + gap.runs.map { run in
                            JSONText.object(
                                [("from", "\(run.keys.lowerBound)"), ("to", "\(run.keys.upperBound)")]
                                    + [("before", run.before), ("after", run.after)].compactMap { name, date in
                                        date.map { (name, JSONText.string(TextTools.iso8601($0))) }
                                    })
                        }.joined(separator: ", ") + "]"
                ),
            ])
        }
        return """
            {
              "store": \(JSONText.string(recovery.original.path)),
              "uuid": \(JSONText.string(recovery.uuid)),
              "frames": \(recovery.log?.frames.count ?? 0),
              "commits": \(recovery.log?.commits.count ?? 0),
              "origins": \(numbers(counts.byOrigin)),
              "found": \(numbers(counts.byEntity)),
              "numbersWithoutObjects": [\(runs.joined(separator: ", "))],
              "warnings": [\(recovery.warnings.map(JSONText.string).joined(separator: ", "))]
            }

            """
    }
}
