import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

/// Counts how often it is read.
private struct Stamp: CoreModel, Equatable {
    let id: Int
    var price: Int
    var text: String

    static let readings = Locked(0)

    init(id: Int, price: Int, text: String) { (self.id, self.price, self.text) = (id, price, text) }

    init(from decoder: any Decoder) throws {
        Self.readings.withLock { $0 += 1 }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        price = try container.decode(Int.self, forKey: .price)
        text = try container.decode(String.self, forKey: .text)
    }
}

private struct Letter: CoreModel, Equatable {
    let id: Int
    var price: Int
    var text: String
    var date: Date?
}

private struct Parcel: CoreModel, Equatable {
    let id: Int
    var weight: Int
    var stickers: [Sticker]
    var sender: Reference<Sticker>?
    var letters: [Letter]

    static var schema: Schema<Parcel> { Schema(.owns(\.letters)) }
}

private struct Crate: CoreModel, Equatable {
    let id: Int
    var parcels: [Parcel]
    var seal: Sticker?
}

private struct Album: CoreModel, Equatable {
    let id: Int
    var stamps: [Stamp]
    var cover: Stamp?
}

private struct Sticker: CoreModel, Equatable {
    let id: Int
    var name: String
}

/// The list that a difference makes of another one.
private func applying<Model: CoreModel>(_ difference: ListDifference<Model>, to former: [Model]) -> [Model] {
    let leaving = Set(difference.removals + difference.moves.map(\.from))
    var list = former.indices.filter { !leaving.contains($0) }.map { former[$0] }
    let arriving =
        difference.insertions.map { ($0.index, $0.model) } + difference.moves.map { ($0.to, former[$0.from]) }
    for (place, model) in arriving.sorted(by: { $0.0 < $1.0 }) { list.insert(model, at: place) }
    for update in difference.updates { list[update.index] = update.model }
    return list
}

@Suite("A list that follows saves", .serialized)
struct FollowedListTests {
    @Test("reads the models that were saved, and no others")
    func inProportion() async throws {
        let manager = PersistenceManager(models: Stamp.self, store: .memory)
        try await manager.save((0..<500).map { Stamp(id: $0, price: $0, text: "t") })
        let lists = [
            manager.observe(Stamp.self),
            manager.observe(Stamp.self, where: \.price < 1000, sortedBy: .descending(\.price)),
            manager.observe(Stamp.self, sortedBy: .ascending(\.price), limit: 100),
        ]
        for list in lists {
            var states = list.makeAsyncIterator()
            _ = try await states.next()
            try await manager.write { store in
                // Saving reads what it replaces as well.
                try store.save(Stamp(id: 7, price: .random(in: 2...6), text: "x"))
                try store.save(Stamp(id: 8, price: 8, text: UUID().uuidString))
            }
            Stamp.readings.withLock { $0 = 0 }
            #expect(try await states.next()?.contains { $0.text == "x" } == true)
            #expect(Stamp.readings.withLock { $0 } == 2)
            try await manager.save(Stamp(id: 7, price: 7, text: "t"))
            _ = try await states.next()
        }
    }

    @Test("reads the models that show what was saved, and no others")
    func shown() async throws {
        let manager = PersistenceManager(models: Album.self, Stamp.self, store: .memory)
        func stamp(_ id: Int, _ text: String = "t") -> Stamp { Stamp(id: id, price: id, text: text) }
        try await manager.save(
            (0..<300).map { album in
                Album(id: album, stamps: (0..<3).map { stamp(3 * album + $0) }, cover: stamp(1000 + album / 4))
            })
        var changes = manager.observe(Album.self, sortedBy: .ascending(\.id)).differences().makeAsyncIterator()
        _ = try await changes.next()
        Stamp.readings.withLock { $0 = 0 }
        try await manager.save(stamp(31, "x"))
        let member = try #require(try await changes.next())
        #expect(member.updates.map(\.index) == [10])
        #expect(member.updates.first?.model.stamps.contains { $0.text == "x" } == true)
        try await manager.save(stamp(1002, "y"))
        let cover = try #require(try await changes.next())
        #expect(cover.updates.map(\.index) == [8, 9, 10, 11])
        #expect(cover.updates.allSatisfy { $0.model.cover?.text == "y" })
        // Those of five albums, and their covers.
        #expect(Stamp.readings.withLock { $0 } <= 20)
    }

    @Test("reads nothing where rows were deleted")
    func deletions() async throws {
        let manager = PersistenceManager(models: Stamp.self, store: .memory)
        try await manager.save((0..<100).map { Stamp(id: $0, price: $0, text: "t") })
        var changes = manager.observe(Stamp.self, sortedBy: .ascending(\.id)).differences().makeAsyncIterator()
        _ = try await changes.next()
        Stamp.readings.withLock { $0 = 0 }
        try await manager.delete(Stamp.self, ids: [3, 40])
        let change = try #require(try await changes.next())
        #expect(change.removals == [3, 40])
        #expect(
            change.models.count == 98 && change.insertions.isEmpty && change.moves.isEmpty && change.updates.isEmpty)
        #expect(Stamp.readings.withLock { $0 } == 0)
    }

    @Test("is read as a whole where others wrote, or all that is known is that something was written")
    func others() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID().uuidString).sqlite")
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + end) } }
        let manager = PersistenceManager(models: Letter.self, store: .file(url))
        let other = PersistenceManager(models: Letter.self, store: .file(url))
        try await manager.save((0..<50).map { Letter(id: $0, price: $0, text: "t") })
        var states = manager.observe(Letter.self, sortedBy: .ascending(\.id)).makeAsyncIterator()
        _ = try await states.next()
        try await other.save(Letter(id: 1, price: 100, text: "other"))
        try await manager.save(Letter(id: 2, price: 100, text: "own"))
        let expected = try await manager.fetch(Letter.self, sortedBy: .ascending(\.id))
        var state = try await states.next()
        if state != expected { state = try await states.next() }
        #expect(state == expected)
        try await manager.update(Letter.self, where: \.price < 10) { $0.set(\.text, to: "batch") }
        #expect(try await states.next()?.count { $0.text == "batch" } == 8)
    }

    @Test(
        "is what a fetch finds after each save, whatever is saved", .timeLimit(.minutes(15)),
        arguments: 1...6 as ClosedRange<UInt64>)
    func random(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let manager = PersistenceManager(models: Letter.self, Stamp.self, store: .memory)
        func letter(_ id: Int) -> Letter {
            let texts = ["", "a", "B", "é", "e\u{301}", "z", "\u{1F600}", "\u{FFFD}"]
            return Letter(
                id: id, price: numbers.next(below: 12), text: texts[numbers.next(below: texts.count)],
                date: numbers.next(below: 3) == 0
                    ? nil : Date(timeIntervalSinceReferenceDate: Double(numbers.next(below: 5))))
        }
        try await manager.save((0..<40).map { letter($0) })
        let id: Order<Letter> = .ascending(\.id)
        let requests: [ModelRequest<Letter>] = [
            ModelRequest(Letter.self).sorted(by: id),
            ModelRequest(Letter.self).filter(\.price < 6).sorted(by: [.descending(\.price), id]),
            ModelRequest(Letter.self).sorted(by: [.ascending(\.text), .descending(\.date), id]),
            ModelRequest(Letter.self).filter(\.text != "a").sorted(by: .ascending(\.date)).limit(7),
            ModelRequest(Letter.self).filter(\.price > 3).sorted(by: .descending(\.text)).limit(12),
            ModelRequest(Letter.self).limit(1),
        ]
        var observations = requests.map { manager.observe($0).makeAsyncIterator() }
        var differences = requests.map { manager.observe($0).differences().makeAsyncIterator() }
        var latest: [[Letter]] = []
        for index in requests.indices {
            latest.append(try #require(try await observations[index].next()))
            _ = try await differences[index].next()
        }
        var told = 0
        for _ in 0..<60 {
            let some = (0...numbers.next(below: 4)).map { _ in numbers.next(below: 55) }
            let kind = numbers.next(below: 6)
            let letters = Set(some).sorted().map { letter($0) }
            switch kind {
            case 0: try await manager.delete(Letter.self, ids: some)
            case 1: try await manager.save(Stamp(id: 1, price: some[0], text: ""))
            case 2:
                try await manager.write { store in
                    try store.delete(Letter.self, ids: some)
                    try store.save(letters)
                }
            default: try await manager.save(letters)
            }
            for index in requests.indices {
                let expected = try await manager.fetch(requests[index])
                guard expected != latest[index] else { continue }
                told += 1
                #expect(try await observations[index].next() == expected, "\(seed), \(index)")
                let difference = try #require(try await differences[index].next())
                #expect(difference.models == expected)
                #expect(applying(difference, to: latest[index]) == expected)
                let whole = ListDifference(from: latest[index], to: expected)
                #expect(difference.removals == whole.removals)
                #expect(difference.insertions.map(\.index) == whole.insertions.map(\.index))
                #expect(difference.updates.map(\.index) == whole.updates.map(\.index))
                #expect(difference.moves.count == whole.moves.count)
                latest[index] = expected
            }
        }
        #expect(told > 60)
    }

    @Test(
        "Lists of models that lead to others are what a fetch finds after each save", .timeLimit(.minutes(15)),
        arguments: 1...4 as ClosedRange<UInt64>)
    func graphs(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let manager = PersistenceManager(
            models: Crate.self, Parcel.self, Sticker.self, Letter.self, store: .memory)
        func stickers() -> [Sticker] {
            Set((0..<numbers.next(below: 3)).map { _ in numbers.next(below: 6) }).sorted().map { sticker($0) }
        }
        // The names of the present save, since copies of one sticker must be equal.
        var names: [Int: String] = [:]
        func sticker(_ id: Int) -> Sticker {
            let name = names[id] ?? "sticker \(id) \(numbers.next(below: 9) / 8)"
            names[id] = name
            return Sticker(id: id, name: name)
        }
        func parcel(_ id: Int) -> Parcel {
            let letters = (0..<numbers.next(below: 3)).map {
                Letter(id: 10 * id + $0, price: numbers.next(below: 9) / 8, text: "", date: nil)
            }
            return Parcel(
                id: id, weight: numbers.next(below: 9), stickers: stickers(),
                sender: numbers.next(below: 3) == 0 ? nil : Reference(sticker(6 + numbers.next(below: 2))),
                letters: letters
            )
        }
        try await manager.save((0..<8).map { sticker($0) })
        try await manager.save((0..<20).map { parcel($0) })
        func crate(_ id: Int) -> Crate {
            // A parcel is in one crate.
            Crate(id: id, parcels: (0..<2).map { parcel(2 * id + $0) }, seal: sticker(numbers.next(below: 6)))
        }
        try await manager.save((0..<8).map { crate($0) })
        let requests: [ModelRequest<Parcel>] = [
            ModelRequest(Parcel.self).sorted(by: .ascending(\.id)),
            ModelRequest(Parcel.self).filter(\.weight < 5).sorted(by: [.descending(\.weight), .ascending(\.id)]),
            ModelRequest(Parcel.self).sorted(by: .ascending(\.weight)).limit(5),
        ]
        func sorted(_ parcels: [Parcel]) -> [Parcel] {
            parcels.map { parcel in
                var parcel = parcel
                parcel.stickers.sort { $0.id < $1.id }
                parcel.letters.sort { $0.id < $1.id }
                return parcel
            }
        }
        func sorted(_ crates: [Crate]) -> [Crate] {
            crates.map { crate in
                var crate = crate
                crate.parcels = sorted(crate.parcels).sorted { $0.id < $1.id }
                return crate
            }
        }
        var observations = requests.map { manager.observe($0).makeAsyncIterator() }
        var latest: [[Parcel]] = []
        for index in requests.indices { latest.append(sorted(try #require(try await observations[index].next()))) }
        let all = ModelRequest(Crate.self).sorted(by: .ascending(\.id))
        var crates = manager.observe(all).makeAsyncIterator()
        var latestCrates = sorted(try #require(try await crates.next()))
        var told = 0
        for _ in 0..<80 {
            names = [:]
            let id = numbers.next(below: 24)
            switch numbers.next(below: 12) {
            case 8: try await manager.save(crate(id % 9))
            case 9: try await manager.delete(Crate.self, id: id % 9)
            case 10, 11:
                // One that a parcel owns, by itself.
                let letters = try await manager.fetch(Letter.self, sortedBy: .ascending(\.id))
                if !letters.isEmpty {
                    var letter = letters[numbers.next(below: letters.count)]
                    letter.price = numbers.next(below: 30)
                    if numbers.next(below: 5) == 0 {
                        try await manager.delete(Letter.self, id: letter.id)
                    } else {
                        try await manager.save(letter)
                    }
                }
            case 0: try await manager.delete(Parcel.self, id: id)
            case 1: try await manager.save(sticker(numbers.next(below: 6)))
            case 2:
                // Gone, and back: others lead to it.
                let id = numbers.next(below: 6)
                try await manager.delete(Sticker.self, id: id)
                if numbers.next(below: 2) == 0 { try await manager.save(sticker(id)) }
            case 3:
                if var parcel = try await manager.find(Parcel.self, id: id) {
                    parcel.weight = numbers.next(below: 9)
                    try await manager.save(parcel)
                }
            case 4: try await manager.save((0..<3).map { parcel(($0 + id) % 24) })
            default: try await manager.save(parcel(id))
            }
            for index in requests.indices {
                let expected = sorted(try await manager.fetch(requests[index]))
                guard expected != latest[index] else { continue }
                told += 1
                var state = sorted(try #require(try await observations[index].next()))
                // Lists without an order of their own may be told in another one.
                while state != expected, state == latest[index] {
                    state = sorted(try #require(try await observations[index].next()))
                }
                #expect(state == expected, "\(seed), \(index)")
                latest[index] = expected
            }
            let expected = sorted(try await manager.fetch(all))
            guard expected != latestCrates else { continue }
            var state = sorted(try #require(try await crates.next()))
            while state != expected, state == latestCrates {
                state = sorted(try #require(try await crates.next()))
            }
            #expect(state == expected, "\(seed), crates")
            latestCrates = expected
        }
        #expect(told > 60)
    }
}
