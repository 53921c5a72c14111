import Foundation
import StoreReading
import TestSupport
import Testing

@Suite("Recovery from random histories")
struct CarvingTrialTests {
    private static let settings: [WrittenStore.Settings] = {
        var all: [WrittenStore.Settings] = []
        for isSecure in [false, true] {
            for autoVacuum in 0...2 {
                for (pageSize, longest) in [(512, 60), (1024, 3000), (4096, 200), (4096, 9000)] {
                    for hasLog in [true, false] {
                        all.append(
                            .init(
                                pageSize: pageSize, isSecure: isSecure, autoVacuum: autoVacuum, hasLog: hasLog,
                                longest: longest))
                    }
                }
            }
        }
        return all
    }()

    /// How much of what was written and is gone was found.
    private struct Score {
        /// What is gone, what of that was committed to the log that is there, and what of the rest has its bytes in the
        /// files.
        var (gone, inLog, left) = (0, 0, 0)
        var (foundInLog, foundLeft) = (0, 0)
        /// What was found in unused space, and what of that was never written.
        var (carved, wrong) = (0, 0)
        /// What was found and is there, or was listed by a page and never written.
        var falseRows = 0

        static func += (sum: inout Score, other: Score) {
            sum.gone += other.gone
            sum.inLog += other.inLog
            sum.left += other.left
            sum.foundInLog += other.foundInLog
            sum.foundLeft += other.foundLeft
            sum.carved += other.carved
            sum.wrong += other.wrong
            sum.falseRows += other.falseRows
        }
    }

    @Test("all that the log has is found, nothing that is there, and hardly anything that was not written", .ownThread)
    func trials() throws {
        var total: [String: Score] = [:]
        let seeds = Int(ProcessInfo.processInfo.environment["PIPPIN_CARVING"] ?? "") ?? 1
        for settings in Self.settings {
            for seed in 1...UInt64(seeds) {
                let score = try trial(settings, seed)
                #expect(score.foundInLog == score.inLog, "\(settings), seed \(seed)")
                #expect(score.falseRows == 0, "\(settings), seed \(seed)")
                if settings.isSecure, !settings.hasLog { #expect(score.carved == 0, "\(settings), seed \(seed)") }
                total["secure_delete \(settings.isSecure), WAL \(settings.hasLog)", default: Score()] += score
            }
        }
        var all = Score()
        for score in total.values { all += score }
        #expect(Double(all.wrong) <= 0.02 * Double(all.carved))
        #expect(Double(all.foundLeft) >= 0.8 * Double(all.left))
        if seeds > 1 { for (key, score) in total.sorted(by: { $0.key < $1.key }) { print(key, score) } }
    }

    private func trial(_ settings: WrittenStore.Settings, _ seed: UInt64) throws -> Score {
        var random = SplitMix(state: seed)
        let store = try WrittenStore(settings)
        // What the file has at the last checkpoint, and what was committed since: all of that is in the files.
        var kept: Set<WrittenStore.Version> = []
        for round in 0..<3 {
            for _ in 0..<12 {
                try store.commit {
                    for _ in 0..<Int.random(in: 1...8, using: &random) { try change(store, settings, &random) }
                }
                kept.formUnion(store.live.values.flatMap(\.values))
            }
            if round < 2 {
                try store.checkpoint(round == 0 ? "TRUNCATE" : "RESTART")
                kept = Set(store.live.values.flatMap(\.values))
            }
        }
        let gone = store.gone
        let inLog = settings.hasLog ? kept.intersection(gone) : []
        let found = try store.recover()
        let versions = Set(found.compactMap(\.version))
        var score = Score()
        (score.gone, score.inLog) = (gone.count, inLog.count)
        score.foundInLog = versions.intersection(inLog).count
        let byTable = Dictionary(grouping: store.written, by: \.table)
        for row in found {
            let isListed = row.row.confidence == 1
            if !isListed { score.carved += 1 }
            let values = row.row.values
            let original = byTable[row.table]?.first { version in
                (row.row.key ?? version.key) == version.key
                    && zip(values, version.values).allSatisfy { $0 == nil || $0 == $1 }
            }
            if original == nil { if isListed { score.falseRows += 1 } else { score.wrong += 1 } }
            if let version = row.version, store.live[version.table]?[version.key] == version { score.falseRows += 1 }
        }
        let values = Set(found.map { $0.row.values })
        let (file, log) = try store.bytes()
        let bytes = Data(file + (log ?? []))
        for version in gone.subtracting(inLog) where bytes.range(of: Self.content(of: version)) != nil {
            score.left += 1
            if values.contains(version.values) { score.foundLeft += 1 }
        }
        return score
    }

    /// The bytes of a row's last numbers and its text, as the file has them one after the other.
    private static func content(of version: WrittenStore.Version) -> Data {
        var data = Data()
        for value in version.values {
            switch value {
            case .real(let number): withUnsafeBytes(of: number.bitPattern.bigEndian) { data.append(contentsOf: $0) }
            case .text(let bytes), .blob(let bytes): data.append(contentsOf: bytes)
            case .null, .integer: break
            }
        }
        return data
    }

    private func change(
        _ store: WrittenStore, _ settings: WrittenStore.Settings, _ random: inout SplitMix
    ) throws {
        let table = Int.random(in: 0..<4, using: &random) == 0 ? "ZAUTHOR" : "ZBOOK"
        let keys = store.live[table].map { Array($0.keys.sorted()) } ?? []
        let choice = Int.random(in: 0..<10, using: &random)
        if choice < 5 || keys.count < 10 {
            try store.insert(table, values(table, settings, &random))
        } else if let key = keys.randomElement(using: &random) {
            if choice < 7 {
                try store.write(table, key, values(table, settings, &random))
            } else {
                try store.delete(table, key)
            }
        }
    }

    private func values(
        _ table: String, _ settings: WrittenStore.Settings, _ random: inout SplitMix
    ) -> [RecordValue] {
        func text() -> [UInt8] {
            let isLong = Int.random(in: 0..<8, using: &random) == 0
            return (0..<Int.random(in: 4...(isLong ? settings.longest : 40), using: &random)).map { _ in
                UInt8.random(in: 97...122, using: &random)
            }
        }
        let opt = RecordValue.integer(.random(in: 1...300, using: &random))
        guard table == "ZBOOK" else { return [.integer(2), opt, .text(text())] }
        return [
            .integer(Bool.random(using: &random) ? 1 : 3), opt,
            Bool.random(using: &random) ? .null : .integer(.random(in: -70_000...70_000, using: &random)),
            .real(.random(in: 0...100, using: &random)), .real(.random(in: 0...9e8, using: &random)), .text(text()),
            Bool.random(using: &random) ? .null : .blob(text()),
        ]
    }

    @Test("damaged files of any kind end the search without a crash", .ownThread)
    func mutants() throws {
        let count = Int(ProcessInfo.processInfo.environment["PIPPIN_MUTANTS"] ?? "") ?? 100
        var settings = WrittenStore.Settings()
        (settings.pageSize, settings.longest, settings.autoVacuum) = (1024, 3000, 1)
        let store = try WrittenStore(settings)
        var random = SplitMix(state: 3)
        for round in 0..<3 {
            for _ in 0..<8 { try store.commit { for _ in 0..<4 { try change(store, settings, &random) } } }
            if round < 2 { try store.checkpoint(round == 0 ? "TRUNCATE" : "RESTART") }
        }
        let (file, log) = try store.bytes()
        var found = 0
        for _ in 0..<count {
            var (bytes, frames) = (file, log ?? [])
            for _ in 0..<Int.random(in: 1...20, using: &random) { Self.damage(&bytes, &random) }
            for _ in 0..<Int.random(in: 0...20, using: &random) { Self.damage(&frames, &random) }
            let recovery = Recovery(
                FileBytes(bytes), WriteAheadLog(FileBytes(frames)), commit: Bool.random(using: &random) ? nil : 3,
                refine: WrittenStore.refine)
            try recovery?.run { _ in found += 1 }
        }
        #expect(found > 0)
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes[place] = 0xFF
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...2000, using: &random)))
        case 3: bytes[.random(in: 0..<min(100, bytes.count), using: &random)] = .random(in: 0...255, using: &random)
        case 4:
            // Headers of pages say the most.
            let page = place / 1024 * 1024
            for offset in 0..<12 where page + offset < bytes.count {
                bytes[page + offset] = .random(in: 0...255, using: &random)
            }
        case 5: for offset in place..<min(place + 8, bytes.count) { bytes[offset] = 0xFF }
        default:
            let other = bytes.indices.randomElement(using: &random) ?? 0
            let length = min(1024, bytes.count - max(place, other))
            bytes.replaceSubrange(place..<place + length, with: bytes[other..<other + length])
        }
    }
}
