import Foundation
import Pippin
import TestSupport
import Testing

/// Whose coding, written by hand, wants each key, and null where there is no value.
private struct Entry: CoreModel, Equatable {
    struct Place: Codable, Equatable {
        var town: String
        var street: String?
    }
    enum Mark: Codable, Equatable {
        case stars(Int)
    }
    enum CodingKeys: CodingKey { case id, count, name, date, place, mark, tag }

    let id: Int
    var count: Int?
    var name: String?
    var date: Date?
    var place: Place?
    var mark: Mark?
    var tag: Tag?
}

private struct Tag: CoreModel, Equatable { let id: String }

extension Entry {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        count = try container.decode(Int?.self, forKey: .count)
        name = try container.decode(String?.self, forKey: .name)
        date = try container.decode(Date?.self, forKey: .date)
        place = try container.decode(Place?.self, forKey: .place)
        mark = try container.decode(Mark?.self, forKey: .mark)
        tag = try container.decode(Tag?.self, forKey: .tag)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(count, forKey: .count)
        try container.encode(name, forKey: .name)
        try container.encode(date, forKey: .date)
        try container.encode(place, forKey: .place)
        try container.encode(mark, forKey: .mark)
        try container.encode(tag, forKey: .tag)
    }
}

/// Coding asks a generic type for what it is made of, optional or not.
private struct Slot<Value: Codable & Equatable & Sendable>: CoreModel, Equatable {
    let id: Int
    var value: Value
    static var schema: Schema<Slot> { Schema(name: "Slot") }
}

/// The same, read and written by columns.
@CoreModel
private struct Shelf<Value: Codable & Equatable & Sendable>: Equatable {
    let id: Int
    var value: Value
}

/// Nil in a value that there is, and no value, are two things.
private struct Answer: CoreModel, Equatable {
    let id: Int
    var number: Int??
}

@Suite("Optional properties that coding asks for as such")
struct CodedOptionalTests {
    private let entries = [
        Entry(id: 1),
        Entry(
            id: 2, count: 3, name: "x", date: .distantPast, place: Entry.Place(town: "Bath"), mark: .stars(2),
            tag: Tag(id: "a")),
        Entry(id: 3, count: 5, name: "", date: .distantFuture, place: Entry.Place(town: "", street: "y")),
    ]

    @Test("come back as they were saved, and are set to nothing again")
    func roundTrip() async throws {
        let manager = PersistenceManager(models: Entry.self, store: .memory)
        try await manager.save(entries)
        #expect(try await manager.fetch(Entry.self, sortedBy: .ascending(\.id)) == entries)
        try await manager.save(Entry(id: 2))
        #expect(try await manager.find(Entry.self, id: 2) == Entry(id: 2))
        try await manager.update(Entry.self, where: \.id == 3) { changes in
            changes.set(\.count, to: nil)
            changes.set(\.place, to: nil)
        }
        #expect(try await manager.count(Entry.self, where: \.count == nil && \.place == nil) == 3)
    }

    @Test("are columns, by which models are found, sorted and added up")
    func filters() async throws {
        let manager = PersistenceManager(models: Entry.self, store: .memory)
        try await manager.save(entries)
        let wanted: [(Filter<Entry>, [Int])] = [
            (\.count == nil, [1]), (\.count != nil, [2, 3]), (\.count > 3, [3]), (\.name == "", [3]),
            (\.name == nil, [1]), (\.place == nil, [1]), (\.place?.town == "Bath", [2]),
            (\.place == Entry.Place(town: "", street: "y"), [3]), (\.mark == nil, [1, 3]), (\.mark == .stars(2), [2]),
            (\.tag == nil, [1, 3]), (\.tag?.id == "a", [2]), (.in(\.count, [3, nil]), [1, 2]),
        ]
        for (filter, ids) in wanted {
            #expect(
                try await manager.fetch(Entry.self, where: filter, sortedBy: .ascending(\.id)).map(\.id) == ids,
                "\(filter)")
            #expect(try entries.filter { try filter.matches($0) }.map(\.id) == ids, "\(filter)")
        }
        #expect(try await manager.fetch(Entry.self, sortedBy: .descending(\.date)).map(\.id) == [3, 2, 1])
        #expect(try await manager.sum(Entry.self, \.count) == 8)
    }

    @Test("have no value where a CSV file has an empty field")
    func imported() async throws {
        let folder = try TestFolder()
        let (manager, file) = (PersistenceManager(models: Entry.self, store: .memory), folder.file("entries.csv"))
        try Data("id,count,name,place.town,place.street\n1,3,x,Bath,\n2,,,,\n".utf8).write(to: file)
        let report = try await manager.importCSV(Entry.self, from: file)
        #expect(report.inserted == 2 && report.refused.isEmpty)
        let first = Entry(id: 1, count: 3, name: "x", place: Entry.Place(town: "Bath"))
        #expect(try await manager.fetch(Entry.self, sortedBy: .ascending(\.id)) == [first, Entry(id: 2)])
    }

    @Test("may be what a generic model is made of")
    func generic() async throws {
        let manager = PersistenceManager(models: Slot<Int?>.self, store: .memory)
        let slots = [Slot<Int?>(id: 1, value: nil), Slot(id: 2, value: 4)]
        try await manager.save(slots)
        #expect(try await manager.fetch(Slot<Int?>.self, sortedBy: .ascending(\.id)) == slots)
        #expect(try await manager.fetch(Slot<Int?>.self, where: \.value == nil) == [slots[0]])
        #expect(try await manager.fetch(Slot<Int?>.self, where: \.value > 3) == [slots[1]])
    }

    @Test("may be what a generic model with columns is made of")
    func columns() async throws {
        let manager = PersistenceManager(models: Shelf<Entry.Place?>.self, store: .memory)
        let shelves: [Shelf<Entry.Place?>] = [
            Shelf(id: 1, value: nil), Shelf(id: 2, value: Entry.Place(town: "Bath")),
        ]
        try await manager.save(shelves)
        #expect(try await manager.fetch(Shelf<Entry.Place?>.self, sortedBy: .ascending(\.id)) == shelves)
        #expect(try await manager.fetch(Shelf<Entry.Place?>.self, where: \.value == nil) == [shelves[0]])
    }

    @Test("keep nil in a value that there is")
    func twice() async throws {
        let manager = PersistenceManager(models: Answer.self, store: .memory)
        let answers = [Answer(id: 1, number: nil), Answer(id: 2, number: .some(nil)), Answer(id: 3, number: 4)]
        try await manager.save(answers)
        #expect(try await manager.fetch(Answer.self, sortedBy: .ascending(\.id)) == answers)
        #expect(try await manager.fetch(Answer.self, where: \.number == nil) == [answers[0]])
    }
}
