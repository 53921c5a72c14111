import Foundation
import Pippin
import Testing

@Suite("Questions about structs that the store answers")
struct AggregateTests {
    let manager: PersistenceManager
    private let counter: Counter

    init() async throws {
        counter = try Counter(Shop.self)
        manager = counter.manager
        try await manager.save(StructRoundTripTests.shop)
        try await manager.save(Volume(id: 9, title: "Untitled", price: 2.5, binding: .paper))
    }

    @Test("are how many there are, and whether there is one")
    func counting() async throws {
        #expect(try await manager.count(Volume.self) == 4)
        #expect(try await manager.count(Volume.self, where: \.price != nil) == 3)
        #expect(try await manager.exists(Volume.self, where: \.title == "Emma"))
        #expect(try await manager.exists(Volume.self, where: \.title == "Ulysses") == false)
    }

    @Test("are the sum, the least, the greatest and the average value")
    func numbers() async throws {
        #expect(try await manager.sum(Volume.self, \.price) == 24)
        #expect(try await manager.sum(Volume.self, \.id, where: \.binding == .paper) == 10)
        #expect(try await manager.min(Volume.self, \.title) == "Emma")
        #expect(try await manager.max(Volume.self, \.price) == 12)
        #expect(try await manager.average(Volume.self, \.price) == 8)
        #expect(try await manager.max(Volume.self, \.price, where: \.title == "Emma") == nil)
        #expect(try await manager.sum(Volume.self, \.price, where: \.title == "Emma") == nil)
        #expect(try await manager.sum(Volume.self, \.price, where: \.title == "Ulysses") == nil)
        #expect(try await manager.min(Volume.self, \.writer?.name, where: \.price > 10) == "Mary Shelley")
    }

    @Test("are which values there are, and how often")
    func values() async throws {
        #expect(try await manager.distinct(Volume.self, \.binding) == [.cloth, .paper])
        #expect(try await manager.count(Volume.self, by: \.binding) == [.cloth: 2, .paper: 2])
        let byWriter = try await manager.count(Volume.self, by: \.writer?.name)
        #expect(byWriter == ["Jane Austen": 2, "Mary Shelley": 1, nil: 1])
    }

    @Test("are the same of each group; one in which no model has a value is left out")
    func groups() async throws {
        let byWriter: [String?: Decimal] = ["Jane Austen": 9.5, "Mary Shelley": 12, nil: 2.5]
        #expect(try await manager.sum(Volume.self, \.price, by: \.writer?.name) == byWriter)
        #expect(try await manager.min(Volume.self, \.price, by: \.writer?.name) == byWriter)
        #expect(try await manager.min(Volume.self, \.price, by: \.binding) == [.cloth: 9.5, .paper: 2.5])
        #expect(try await manager.max(Volume.self, \.price, by: \.binding) == [.cloth: 12, .paper: 2.5])
        #expect(try await manager.average(Volume.self, \.price, by: \.binding) == [.cloth: 10.75, .paper: 2.5])
        let last = try await manager.max(Volume.self, \.writer?.name, by: \.binding, where: \.id != 3)
        #expect(last == [.cloth: "Jane Austen", .paper: "Jane Austen"])
        #expect(try await manager.max(Volume.self, \.id, by: \.id, where: \.id > 2) == [3: 3, 9: 9])
        #expect(try await manager.max(Volume.self, \.price, by: \.binding, where: \.title == "Emma") == [:])
        #expect(try await manager.average(Volume.self, \.price, by: \.title, where: \.title == "Emma") == [:])
        #expect(try await manager.count(Volume.self, by: \.binding, where: \.title == "Ulysses") == [:])
    }

    @Test("count a block's own changes, models without a value among them")
    func changedCounts() async throws {
        let counts = try await manager.write { store in
            try store.update(Volume.self, where: \.id == 9) { $0.set(\.title, to: "Still untitled") }
            try store.update(Volume.self, where: \.writer?.name == "Mary Shelley") { $0.set(\.writer, to: nil) }
            return try store.count(Volume.self, by: \.writer?.name)
        }
        #expect(counts == ["Jane Austen": 2, nil: 2])
    }

    @Test("put together what is a single value in Swift and two in the store", arguments: [false, true])
    func equivalentTexts(inBlock: Bool) async throws {
        try await manager.save([
            Volume(id: 20, title: "\u{e9}", price: 1.5, binding: .paper),
            Volume(id: 21, title: "e\u{301}", price: 2, binding: .paper),
            Volume(id: 22, title: "\u{e9}", price: 4, binding: .paper),
        ])
        try await manager.write { store in
            if inBlock { try store.update(Volume.self, where: \.id == 22) { $0.set(\.price, to: 7) } }
            let filter: Filter<Volume> = \.id > 9
            #expect(try store.count(Volume.self, by: \.title, where: filter) == ["\u{e9}": 3])
            #expect(
                try store.sum(Volume.self, \.price, by: \.title, where: filter) == ["\u{e9}": inBlock ? 10.5 : 7.5])
            #expect(try store.min(Volume.self, \.price, by: \.title, where: filter) == ["\u{e9}": 1.5])
            #expect(try store.max(Volume.self, \.price, by: \.title, where: filter) == ["\u{e9}": inBlock ? 7 : 4])
            #expect(
                try store.average(Volume.self, \.price, by: \.title, where: filter) == ["\u{e9}": inBlock ? 3.5 : 2.5])
        }
    }

    private struct Meter: CoreModel {
        let id: Int
        var reading: Int
    }

    @Test("have exact answers to 64 bits for whole numbers, and an error beyond", arguments: [false, true])
    func largeSums(inBlock: Bool) async throws {
        let meters = try Counter(Meter.self)
        func sum(_ readings: Int...) async throws -> (Int?, [Int: Int]) {
            try await meters.manager.replaceAll(with: readings.enumerated().map { Meter(id: $0, reading: $1) })
            return try await meters.manager.write { store in
                if inBlock { try store.update(Meter.self, where: \.id == 0) { $0.set(\.reading, to: readings[0] - 1) } }
                return (try store.sum(Meter.self, \.reading), try store.sum(Meter.self, \.reading, by: \.id))
            }
        }
        let less = inBlock ? 1 : 0
        #expect(try await sum(.max - 4, 3).0 == .max - 1 - less)
        #expect(try await sum(.max, .min + 2).1 == [0: .max - less, 1: .min + 2])
        await #expect { _ = try await sum(.max, 3) } throws: { ($0 as? PersistenceError)?.code == .readFailed }
    }

    @Test("averages of whole numbers are there where their sum has too many bits", arguments: [false, true])
    func largeAverages(inBlock: Bool) async throws {
        let meters = try Counter(Meter.self)
        try await meters.manager.save([Meter(id: 0, reading: .max), Meter(id: 1, reading: .max)])
        let average = try await meters.manager.write { store in
            if inBlock { try store.update(Meter.self, where: \.id == 0) { $0.set(\.reading, to: .max - 1) } }
            return try store.average(Meter.self, \.reading)
        }
        #expect(average == 0x1p63)
        try await meters.manager.save(Meter(id: 0, reading: .max))
        #expect(try await meters.manager.average(Meter.self, \.reading, by: \.reading) == [.max: 0x1p63])
    }

    /// Whose properties have the names that a query's own columns might have.
    private struct Reading: CoreModel {
        let id: Int
        var value: Int
        var count: Int
        var sum: Int
    }

    @Test("are by properties of any name", arguments: [false, true])
    func columnNames(inBlock: Bool) async throws {
        let readings = try Counter(Reading.self)
        try await readings.manager.save([
            Reading(id: 1, value: 5, count: 7, sum: 1), Reading(id: 2, value: 5, count: 8, sum: 2),
            Reading(id: 3, value: 6, count: 8, sum: 4),
        ])
        try await readings.manager.write { store in
            if inBlock { try store.update(Reading.self, where: \.id == 3) { $0.set(\.sum, to: 5) } }
            let last = inBlock ? 5 : 4
            #expect(try store.count(Reading.self, by: \.value) == [5: 2, 6: 1])
            #expect(try store.count(Reading.self, by: \.count) == [7: 1, 8: 2])
            #expect(try store.count(Reading.self, by: \.sum) == [1: 1, 2: 1, last: 1])
            #expect(try store.sum(Reading.self, \.sum, by: \.value) == [5: 3, 6: last])
            #expect(try store.sum(Reading.self, \.sum, by: \.count) == [7: 1, 8: 2 + last])
            #expect(try store.sum(Reading.self, \.value, by: \.value) == [5: 10, 6: 6])
            #expect(try store.sum(Reading.self, \.count, by: \.sum) == [1: 7, 2: 8, last: 8])
            #expect(try store.max(Reading.self, \.sum, by: \.value) == [5: 2, 6: last])
            #expect(try store.average(Reading.self, \.value, by: \.count) == [7: 5, 8: 5.5])
            #expect(try store.sum(Reading.self, \.value) == 16)
            #expect(try store.average(Reading.self, \.count) == 23.0 / 3)
            #expect(try store.max(Reading.self, \.sum) == last)
        }
    }

    @Test("are refused for what is not an attribute")
    func refused() async throws {
        await #expect(throws: PersistenceError.self) { try await manager.distinct(Shop.self, \.volumes.count) }
    }
}
