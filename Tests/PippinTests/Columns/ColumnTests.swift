import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import Pippin

private enum Mood: String, Codable, Sendable, CaseIterable { case calm, wild }
private struct Size: Codable, Hashable, Sendable { var width: Int, height: Double? }

@CoreModel
private struct Knob: Equatable {
    let id: Int
    var name: String
}

@CoreModel
private struct Instrument: Equatable {
    let id: Int
    var text: String
    var maybeText: String?
    var flag: Bool
    var maybeFlag: Bool?
    var number: Int
    var maybeNumber: Int?
    var small: Int8
    var maybeSmall: Int16?
    var unsigned: UInt32
    var maybeUnsigned: UInt64?
    var long: Int64
    var fraction: Double
    var maybeFraction: Double?
    var single: Float
    var maybeSingle: Float?
    var date: Date
    var maybeDate: Date?
    var uuid: UUID
    var maybeUUID: UUID?
    var bytes: Data
    var maybeBytes: Data?
    var url: URL
    var price: Decimal
    var mood: Mood
    var maybeMood: Mood?
    var size: Size
    var maybeSize: Size?
    var tags: [String]
    var maybeTags: [String: Int]?
    private var hidden = 7
    var `default` = "words"
    var favorite: Knob?
    var children: [Knob]
    var maybeChildren: [Knob]?
    var set: Set<Int>

    static var schema: Schema<Instrument> { Schema(.owns(\.children), .owns(\.maybeChildren)) }

    static func full(_ id: Int) -> Instrument {
        Instrument(
            id: id, text: "t'é\u{1F600}", maybeText: "", flag: true, maybeFlag: false, number: .min, maybeNumber: 0,
            small: -128, maybeSmall: 300, unsigned: .max, maybeUnsigned: 1 << 62, long: .max, fraction: 1e300,
            maybeFraction: 0, single: 0.1, maybeSingle: -0.5, date: Date(timeIntervalSinceReferenceDate: 0.25),
            maybeDate: .distantPast, uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(id))),
            maybeUUID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), bytes: Data([0, 255]),
            maybeBytes: Data(), url: URL(string: "https://example.com/a?b#c")!, price: Decimal(string: "12.34")!,
            mood: .wild, maybeMood: .calm, size: Size(width: 1, height: nil), maybeSize: Size(width: 2, height: 3),
            tags: ["a", "b"], maybeTags: ["k": 1], hidden: 8, default: "d", favorite: Knob(id: id * 10, name: "f"),
            children: [Knob(id: id * 10 + 1, name: "x"), Knob(id: id * 10 + 2, name: "y")], maybeChildren: [],
            set: [id])
    }

    static func sparse(_ id: Int) -> Instrument {
        Instrument(
            id: id, text: "", flag: false, number: 0, small: 0, unsigned: 0, long: 0, fraction: 0, single: 0,
            date: Date(timeIntervalSinceReferenceDate: 0),
            uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), bytes: Data(),
            url: URL(string: "a:b")!, price: 0, mood: .calm, size: Size(width: 0, height: 0), tags: [],
            children: [], set: [])
    }
}

private enum Level: Int16, Codable, Sendable { case low = -3, high = 300 }
private struct Stamp: RawRepresentable, Codable, Hashable, Sendable { var rawValue: String }

/// Written in upper case, and read whatever the case.
private enum Finish: String, Codable, Sendable {
    case matt, shiny

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = Finish(rawValue: text.lowercased()) ?? .matt
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue.uppercased())
    }
}

@CoreModel
private struct Vase: Equatable {
    let id: Stamp
    var label: Stamp?
    var level: Level
    var maybeLevel: Level?
    var finish: Finish
    var maybeFinish: Finish?

    static let all = [
        Vase(
            id: Stamp(rawValue: "a"), label: Stamp(rawValue: ""), level: .high, maybeLevel: .low, finish: .shiny,
            maybeFinish: .shiny),
        Vase(id: Stamp(rawValue: "b"), level: .low, finish: .matt),
    ]
}

@Suite("Columns of @CoreModel")
struct ColumnTests {
    private let folder: TestFolder
    private let values = [Instrument.full(1), .sparse(2)]

    init() throws { folder = try TestFolder() }

    private func manager(_ name: String, columns: Bool) -> PersistenceManager {
        EntityDerivation.$usesColumns.withValue(columns) {
            PersistenceManager(models: Instrument.self, store: .file(folder.file(name)))
        }
    }

    /// All rows of a store that models are in, as plain SQL shows them.
    private func rows(_ name: String) throws -> [String] {
        try ["ZINSTRUMENT", "ZKNOB"].flatMap { table in
            try plainRows("SELECT * FROM \(table) ORDER BY Z_PK", in: folder.file(name)).map { row in
                row.map { $0 ?? "NULL" }.joined(separator: "|")
            }
        }
    }

    @Test("are read and written by code of the macro's")
    func used() throws {
        #expect(try EntityDerivation.plan(of: Instrument.self).record.columns != nil)
        #expect(try EntityDerivation.plan(of: Knob.self).record.columns != nil)
    }

    @Test("leave the rows that coding leaves")
    func sameRows() throws {
        for (name, columns) in [("columns", true), ("coding", false)] {
            let manager = manager(name, columns: columns)
            try manager.writeAndWait { try $0.save(values) }
        }
        #expect(try rows("columns") == rows("coding"))
    }

    @Test("give the values that coding gives", arguments: [true, false])
    func sameValues(asRows: Bool) throws {
        try manager("store", columns: true).writeAndWait { store in
            store.access.change(asRows: asRows)
            try store.save(values)
        }
        for columns in [true, false] {
            let manager = manager("store", columns: columns)
            #expect(try manager.readAndWait { try $0.fetch(Instrument.self, sortedBy: .ascending(\.id)) } == values)
            #expect(try manager.readAndWait { try $0.find(Instrument.self, id: 1) } == values[0])
        }
    }

    @Test("have raw values, except where a type has a coding of its own")
    func rawValues() throws {
        for columns in [true, false] {
            let name = columns ? "columns" : "coding"
            let manager = EntityDerivation.$usesColumns.withValue(columns) {
                PersistenceManager(models: Vase.self, store: .file(folder.file(name)))
            }
            try manager.writeAndWait { try $0.save(Vase.all) }
            let rows = try plainRows(
                "SELECT ZID, ZLABEL, ZLEVEL, ZMAYBELEVEL, ZFINISH, ZMAYBEFINISH FROM ZVASE ORDER BY ZID",
                in: folder.file(name))
            #expect(rows == [["a", "", "300", "-3", "SHINY", "SHINY"], ["b", nil, "-3", nil, "MATT", nil]])
            #expect(
                try Vase.all.map { vase in try manager.readAndWait { try $0.find(Vase.self, id: vase.id) } } == Vase.all
            )
        }
    }

    @Test("name a raw value that the type does not have")
    func unknownRawValue() throws {
        let manager = PersistenceManager(models: Vase.self, store: .file(folder.file("store")))
        try manager.writeAndWait { try $0.save(Vase.all) }
        try Connection(path: folder.file("store").path, mode: .readWrite)
            .execute("UPDATE ZVASE SET ZMAYBELEVEL = 7 WHERE ZID = 'a'")
        let error = #expect(throws: PersistenceError.self) {
            try manager.readAndWait { try $0.find(Vase.self, id: Stamp(rawValue: "a")) }
        }
        #expect(error?.code == .unreadable)
        #expect(error?.property == "maybeLevel")
    }

    @Test("are not a change where coding has written them", arguments: [true, false])
    func unchanged(columns: Bool) throws {
        try manager("store", columns: !columns).writeAndWait { try $0.save(values) }
        let before = try rows("store")
        try manager("store", columns: columns).writeAndWait { try $0.save(values) }
        #expect(try rows("store") == before)
    }

    @Test("are coded outside of stores as the compiler would")
    func json() throws {
        struct Twin: Codable, Equatable {
            let id: Int
            var name: String
        }
        let data = try JSONEncoder().encode(Knob(id: 1, name: "n"))
        #expect(try JSONDecoder().decode(Twin.self, from: data) == Twin(id: 1, name: "n"))
        let full = try JSONEncoder().encode(values[0])
        #expect(try JSONDecoder().decode(Instrument.self, from: full) == values[0])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Knob.self, from: Data("{\"id\":1}".utf8)) }
    }

    /// What reading says of a row in which a column was changed by plain SQL.
    private func readingError(_ change: String, columns: Bool) throws -> String {
        let name = "damaged\(columns)"
        try manager(name, columns: true).writeAndWait { try $0.save(values) }
        try execute("UPDATE ZINSTRUMENT SET \(change) WHERE ZID = 1", in: folder.file(name))
        do {
            _ = try manager(name, columns: columns).readAndWait { try $0.fetch(Instrument.self) }
            return "none"
        } catch { return error.localizedDescription }
    }

    @Test(
        "name what is wrong as coding does",
        arguments: [
            "ZTEXT = NULL", "ZNUMBER = NULL", "ZFLAG = NULL", "ZSMALL = 1000", "ZSMALL = NULL", "ZDATE = NULL",
            "ZUUID = NULL", "ZMOOD = 'other'", "ZMOOD = NULL", "ZMAYBESMALL = 1000000", "ZSINGLE = NULL",
            "ZUNSIGNED = -1", "ZBYTES = NULL", "ZTAGS = X'00'", "ZURL = NULL", "ZPRICE = NULL",
        ])
    func sameErrors(change: String) throws {
        let error = try readingError(change, columns: true)
        #expect(error != "none")
        #expect(error == (try readingError(change, columns: false)))
    }

    @Test("refuse what coding refuses, in the same words")
    func sameRefusals() throws {
        var refused: [Instrument] = [.full(1), .full(1), .full(1), .full(1)]
        refused[0].fraction = .nan
        refused[1].maybeUnsigned = .max
        refused[2].date = Date(timeIntervalSinceReferenceDate: .nan)
        refused[3].price = .nan
        for model in refused {
            let errors = [true, false].map { columns -> String in
                do {
                    try manager("refused\(columns)", columns: columns).writeAndWait { try $0.save(model) }
                    return "none"
                } catch { return error.localizedDescription }
            }
            #expect(errors[0] != "none")
            #expect(errors[0] == errors[1])
        }
    }
}

@CoreModel
private struct Shouted: Equatable {
    let id: Int
    var name: String

    init(id: Int, name: String) { (self.id, self.name) = (id, name) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name).uppercased()
    }

    enum CodingKeys: CodingKey { case id, name }
}

@CoreModel
private final class Plate: Sendable {
    let id: Int
    let name: String
    init(id: Int, name: String) { (self.id, self.name) = (id, name) }
}

@CoreModel
private struct Crate<Content: Codable & Sendable & Equatable>: Equatable {
    let id: Int
    var content: Content
}

private struct Miscounted: CoreModel {
    let id: Int
    static let wrongPlace = Locked(0)

    static var compiledColumns: ModelColumns? {
        ModelColumns(
            ["id"],
            read: { columns in Miscounted(id: try columns.value(at: wrongPlace.withLock { $0 })) },
            write: { (model: borrowing Miscounted, columns) in
                try columns.set(model.id, at: 0)
                try columns.set(model.id, at: wrongPlace.withLock { $0 })
            })
    }
}

@Suite("Models with @CoreModel", .serialized)
struct CoreModelMacroTests {
    @Test("keep coding of their own")
    func byHand() throws {
        let manager = PersistenceManager(models: Shouted.self, store: .memory)
        try manager.writeAndWait { try $0.save(Shouted(id: 1, name: "low")) }
        #expect(try manager.readAndWait { try $0.fetch(Shouted.self).map(\.name) } == ["LOW"])
        #expect(Shouted.compiledColumns == nil)
    }

    @Test("may be final classes")
    func classes() throws {
        let manager = PersistenceManager(models: Plate.self, store: .memory)
        try manager.writeAndWait { try $0.save(Plate(id: 1, name: "n")) }
        #expect(try manager.readAndWait { try $0.fetch(Plate.self).map(\.name) } == ["n"])
    }

    @Test("get an error where columns written by hand are not there", arguments: [7, -1])
    func missingColumns(place: Int) throws {
        let manager = PersistenceManager(models: Miscounted.self, store: .memory)
        // Opening tries the type's coding.
        try manager.writeAndWait { try $0.save(Miscounted(id: 1)) }
        Miscounted.wrongPlace.withLock { $0 = place }
        defer { Miscounted.wrongPlace.withLock { $0 = 0 } }
        #expect(throws: PersistenceError.self) { try manager.writeAndWait { try $0.save(Miscounted(id: 2)) } }
        #expect(throws: PersistenceError.self) { try manager.readAndWait { try $0.fetch(Miscounted.self) } }
    }

    @Test("may be generic types")
    func generic() throws {
        let manager = PersistenceManager(models: Crate<String>.self, Crate<[Int]>.self, store: .memory)
        _ = try? manager.loadAndWait()
        let one = PersistenceManager(models: Crate<Double?>.self, store: .memory)
        try one.writeAndWait { try $0.save(Crate<Double?>(id: 1, content: 2)) }
        #expect(try one.readAndWait { try $0.fetch(Crate<Double?>.self) } == [Crate(id: 1, content: 2)])
    }
}
