import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Sample: CoreModel, Equatable {
    let id: Int
    var double: Double?
    var float: Float?
    var decimal: Decimal?
    var date: Date?
    var small: Int8?
    var middle: Int32?
    var large: Int64?
    var unsigned: UInt64?
    var text: String?
    var bytes: Data?

    /// The same with its date as PostgreSQL keeps it, where the tests run on that.
    var kept: Sample {
        var kept = self
        guard let seconds = date?.timeIntervalSinceReferenceDate, Self.isOnPostgres, abs(seconds) < 1e13 else {
            return self
        }
        let whole = seconds.rounded(.down)
        let microseconds = Int64(whole) * 1_000_000 + Int64(((seconds - whole) * 1e6).rounded())
        let (quotient, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        kept.date = Date(
            timeIntervalSinceReferenceDate: abs(microseconds) < 1 << 53
                ? Double(microseconds) / 1e6 : Double(quotient) + Double(rest) / 1e6)
        return kept
    }

    static let isOnPostgres = ProcessInfo.processInfo.environment["PIPPIN_STORE"] == "PostgreSQL"

    /// Whether every bit is the same.
    func isSame(as other: Sample) -> Bool {
        double?.bitPattern == other.double?.bitPattern && float?.bitPattern == other.float?.bitPattern
            && date?.timeIntervalSinceReferenceDate.bitPattern == other.date?.timeIntervalSinceReferenceDate.bitPattern
            && decimal == other.decimal && decimal?.isSignMinus == other.decimal?.isSignMinus
            && text.map { Array($0.utf8) } == other.text.map { Array($0.utf8) } && self == other
    }
}

/// Values from the whole range of each type.
private struct Samples {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed) }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func double() -> Double {
        let known = [
            0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .leastNormalMagnitude,
            .greatestFiniteMagnitude,
            0.1, 1e15 + 0.3, 9_007_199_254_740_992, -9_223_372_036_854_775_808, 9_223_372_036_854_775_808, .ulpOfOne,
            1e22,
        ]
        return below(4) == 0 ? known[below(known.count)] : Double(bitPattern: random.next())
    }

    mutating func float() -> Float {
        let known: [Float] = [
            0, -0.0, .infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 16_777_216,
        ]
        return below(4) == 0 ? known[below(known.count)] : Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
    }

    mutating func decimal() -> Decimal {
        let digits = (0...below(18)).reduce(Decimal(below(10))) { number, _ in number * 10 + Decimal(below(10)) }
        return Decimal(
            sign: below(2) == 0 ? .plus : .minus, exponent: below(256) - 128, significand: below(3) == 0 ? 7 : digits)
    }

    mutating func text() -> String {
        let parts = ["é", "e\u{301}", "\u{1F600}", "\n", "\"", "\\", "<&>", "\u{FEFF}", " ", "a", "\u{7F}", "ß", "0"]
        return (0..<below(6)).map { _ in parts[below(parts.count)] }.joined()
    }

    mutating func sample(_ id: Int) -> Sample {
        var sample = Sample(id: id)
        switch below(8) {
        case 0, 1: sample.double = double()
        case 2: sample.float = float()
        case 3: sample.decimal = decimal()
        case 4:
            sample.date = Date(timeIntervalSinceReferenceDate: below(2) == 0 ? double() : Double(below(1_000_000)) / 7)
        case 5:
            sample.small = Int8(truncatingIfNeeded: random.next())
            sample.middle = Int32(truncatingIfNeeded: random.next())
        case 6:
            sample.large = Int64(truncatingIfNeeded: random.next())
            sample.unsigned = random.next()
        default:
            sample.text = text()
            sample.bytes = Data((0..<below(4)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
        return sample
    }
}

@Suite("Values that are saved")
struct ExactValueTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func manager(_ type: String) -> PersistenceManager {
        let manager = PersistenceManager(models: Sample.self, store: .file(folder.file("samples")))
        manager.container.persistentStoreDescriptions[0].type = type
        return manager
    }

    @Test(
        "come back with the same bits, or are refused",
        arguments: Sample.isOnPostgres
            ? [NSSQLiteStoreType] : [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType, NSInMemoryStoreType],
        [UInt64(1), 2])
    func random(type: String, seed: UInt64) async throws {
        var samples = Samples(seed: seed)
        let all = (1...600).map { samples.sample($0) }
        // What is refused does not depend on the store.
        let checking = PersistenceManager(models: Sample.self, store: .memory)
        let refused = Set(try await checking.importModels(all, batchSize: 10).refused.map(\.position))
        #expect(refused.count < 120)
        var accepted = all.filter { !refused.contains($0.id) }
        // Documents refuse dates without an end as a whole.
        if type == NSXMLStoreType || type == NSBinaryStoreType {
            accepted.removeAll { $0.date?.timeIntervalSinceReferenceDate.isInfinite ?? false }
        }
        var manager = manager(type)
        try await manager.save(accepted)
        if type != NSInMemoryStoreType {
            await manager.close()
            manager = self.manager(type)
        }
        let found = Dictionary(uniqueKeysWithValues: try await manager.fetch(Sample.self).map { ($0.id, $0) })
        #expect(found.count == accepted.count)
        for sample in accepted {
            let kept = found[sample.id]
            #expect(kept?.isSame(as: sample.kept) == true, "\(sample) \(String(describing: kept))")
        }
        // Saved again, they have not changed.
        #expect(try await manager.importModels(accepted.map(\.kept), batchSize: 2_000).unchanged == accepted.count)
        for id in refused {
            await #expect(throws: PersistenceError.self) { try await manager.save(all[id - 1]) }
        }
    }

    @Test("are decimals of each size, the smallest ones among them")
    func decimals() async throws {
        let samples = (-128...127).flatMap { exponent in
            [1, 7].map { digit in
                Sample(
                    id: (exponent + 128) * 10 + digit,
                    decimal: Decimal(sign: .plus, exponent: exponent, significand: Decimal(digit)))
            }
        }
        let manager = manager(NSSQLiteStoreType)
        try await manager.save(samples)
        #expect(try await manager.fetch(Sample.self, sortedBy: .ascending(\.id)) == samples)
        #expect(try await manager.count(Sample.self, where: \.decimal == samples[0].decimal) == 1)
        #expect(try await manager.max(Sample.self, \.decimal) == samples.last?.decimal)
        let values = try await manager.values(Sample.self, \.decimal, where: \.id < 10)
        #expect(Set(values) == Set(samples.prefix(2).map(\.decimal)))
    }

    @Test("are not negative zeros, which are refused by name; filters compare with them")
    func negativeZeros() async throws {
        let manager = manager(NSSQLiteStoreType)
        for sample in [Sample(id: 1, double: -0.0), Sample(id: 1, float: -0.0)] {
            let error = await #expect(throws: PersistenceError.self) { try await manager.save(sample) }
            #expect(error?.code == .unwritable && error?.reason?.contains("negative zero") == true)
        }
        try await manager.save(Sample(id: 1, double: -0.0 + 0))
        #expect(try await manager.count(Sample.self, where: \.double == -0.0) == 1)
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.update(Sample.self, where: .all) { $0.set(\.double, to: -0.0) }
        }
        #expect(error?.code == .unwritable && error?.property == "double")
    }
}
