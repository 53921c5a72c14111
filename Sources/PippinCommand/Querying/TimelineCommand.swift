import Foundation
import StoreReading

/// `pippin timeline`: the dates of all objects of stores, in the order of time.
enum TimelineCommand {
    static func run(
        _ options: TimelineOptions, _ progress: ProgressLine, _ output: (String) throws -> Void, warn: (String) -> Void
    ) throws {
        defer { progress.end() }
        let timeline = Timeline(options.format, options.style)
        var count = 0
        func add(_ path: String, named source: String) throws {
            let name = TextTools.inOneLine(source.split(separator: "/").last.map(String.init) ?? source)
            let report: ((Double) -> Void)? = progress.isSeen ? { progress.say("reading \(name)", $0) } : nil
            try timeline.add(storeAt: path, named: source, modelPath: options.model, progress: report)
            count += 1
        }
        for path in options.paths {
            guard StoreScan.hasMany(path) else {
                try add(path, named: path)
                continue
            }
            try StoreScan.forEachStore(in: path, unreadable: warn) { store in
                // One store that cannot be read does not affect the others.
                do { try store.withLog { try add($0, named: store.path) } } catch let error as EndingSignals.Ended {
                    throw error
                } catch {
                    let reason = (error as? CommandError)?.message ?? error.localizedDescription
                    warn("“\(store.path)” is left out: \(TextTools.withoutPeriod(reason))")
                }
            }
        }
        guard count > 0 else {
            throw CommandError("no store was found in \(options.paths.map { "“\($0)”" }.joined(separator: ", "))")
        }
        func write(_ output: (String) throws -> Void) throws {
            try timeline.write(
                progress: { progress.say("writing \(TextTools.count(timeline.count, "event"))", $0) }, output)
        }
        guard let file = options.output else { return try write(output) }
        try OutputFile.write(to: file) { try write($0) }
        progress.end()
        try output(
            "\(TextTools.count(timeline.count, "event")) of \(TextTools.count(count, "store")); “\(file)” was written\n"
        )
    }
}

/// `pippin scan`: the stores in folders, found by their content.
enum ScanCommand {
    static func run(
        _ options: ScanOptions, _ output: (String) throws -> Void, warn: (String) -> Void
    ) throws {
        var count = 0
        for path in options.paths {
            try StoreScan.forEachStore(in: path, unreadable: warn) { store in
                count += 1
                try output(options.asJSON ? json(store) : text(store))
            }
        }
        guard count == 0 else { return }
        throw CommandError("no store was found in \(options.paths.map { "“\($0)”" }.joined(separator: ", "))")
    }

    /// A store in a few lines. Pure.
    static func text(_ store: ScannedStore) -> String {
        var lines = [TextTools.visible(store.path)]
        if let path = store.devicePath { lines.append("  on the device  \(TextTools.visible(path))") }
        if let log = store.logPath { lines.append("  its log        \(TextTools.visible(log))") }
        let objects = store.entities.compactMap(\.count).reduce(0, +)
        let entities = TextTools.count(store.entities.count, "entity", "entities")
        lines.append(
            "  \(store.kind), \(TextTools.size(store.byteCount)), \(entities)"
                + (store.kind == .sqlite ? ", \(TextTools.count(objects, "object"))" : "")
                + (store.uuid.isEmpty ? "" : ", \(TextTools.inOneLine(store.uuid))"))
        let names = store.entities.map { entity in
            TextTools.inOneLine(entity.name) + (entity.count.map { " \(TextTools.grouped(Int64($0)))" } ?? "")
        }
        if !names.isEmpty {
            lines.append("  " + names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : ""))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A store as a line of JSON. Pure.
    static func json(_ store: ScannedStore) -> String {
        var members: [(String, String)] = [
            ("path", JSONText.string(store.path)), ("kind", JSONText.string("\(store.kind)")),
            ("bytes", "\(store.byteCount)"), ("uuid", JSONText.string(store.uuid)),
        ]
        if let version = store.frameworkVersion { members.append(("frameworkVersion", "\(version)")) }
        members += [("devicePath", store.devicePath), ("log", store.logPath)].compactMap { name, value in
            value.map { (name, JSONText.string($0)) }
        }
        let identifiers = store.versionIdentifiers.map(JSONText.string).joined(separator: ", ")
        members.append(("versionIdentifiers", "[\(identifiers)]"))
        members.append(
            ("entities", JSONText.object(store.entities.map { ($0.name, $0.count.map { "\($0)" } ?? "null") })))
        return JSONText.object(members) + "\n"
    }
}
