import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Moment: CoreModel, Equatable {
    let id: Date
    var name: String
}

private struct Fingerprint: CoreModel, Equatable {
    let id: Data
    var name: String
}

private struct Height: CoreModel, Equatable {
    let id: Double
    var name: String
}

private struct Weight: CoreModel, Equatable {
    let id: Float
    var name: String
    var height: Reference<Height>?
}

private struct Findings: CoreModel, Equatable {
    let id: Int
    var moment: Reference<Moment>?
    var fingerprint: Reference<Fingerprint>?
    var heights: [Reference<Height>]
}

private struct Word: CoreModel, Equatable {
    let id: String
    var length: Int
}

private struct Spelling: CoreModel, Equatable {
    let id: Int
    var words: [Reference<Word>]
    var first: Reference<Word>?
}

private struct Price: CoreModel, Equatable {
    let id: Decimal
    var heights: [Height]
}

@Suite("Identifiers that look alike")
struct CloseIdentifierTests {
    private let folder: TestFolder
    private let manager: PersistenceManager

    init() throws {
        folder = try TestFolder()
        manager = PersistenceManager(
            models: Moment.self, Fingerprint.self, Height.self, Findings.self, Price.self, Weight.self,
            store: .file(folder.file("close.sqlite")))
    }

    /// Saves models together, then again with other names, and tells what is stored.
    private func saved<Model: CoreModel>(
        _ models: [Model], _ renamed: [Model], asRows: Bool
    ) throws -> [Model] {
        for list in [models, renamed] {
            try manager.writeAndWait { store in
                store.access.change(asRows: asRows)
                try store.save(list)
            }
        }
        return try manager.readAndWait { try $0.fetch(Model.self) }
    }

    @Test("are different dates, a fraction of a second apart", arguments: [true, false])
    func dates(asRows: Bool) throws {
        let dates = [1.25, 1.5, 1.75].map(Date.init(timeIntervalSinceReferenceDate:))
        let renamed = dates.map { Moment(id: $0, name: "\($0.timeIntervalSinceReferenceDate)") }
        let found = try saved(dates.map { Moment(id: $0, name: "new") }, renamed, asRows: asRows)
        #expect(found.sorted { $0.id < $1.id } == renamed)
    }

    @Test("are different bytes, as many of them", arguments: [true, false])
    func bytes(asRows: Bool) throws {
        let bytes = [Data([1, 2]), Data([2, 1]), Data([1, 3])]
        let renamed = bytes.map { Fingerprint(id: $0, name: "\(Array($0))") }
        let found = try saved(bytes.map { Fingerprint(id: $0, name: "new") }, renamed, asRows: asRows)
        #expect(found.count == 3 && renamed.allSatisfy(found.contains))
    }

    @Test("are different numbers, whole and not", arguments: [true, false])
    func numbers(asRows: Bool) throws {
        let numbers = [1, 1.5, -0.5, 1e300]
        let renamed = numbers.map { Height(id: $0, name: "\($0)") }
        let found = try saved(numbers.map { Height(id: $0, name: "new") }, renamed, asRows: asRows)
        #expect(found.count == 4 && renamed.allSatisfy(found.contains))
    }

    @Test("are different texts that Swift calls equal, since their bytes differ", arguments: [true, false])
    func texts(asRows: Bool) async throws {
        let manager = PersistenceManager(models: Word.self, Spelling.self, store: .file(folder.file("words.sqlite")))
        let ids = ["caf\u{E9}", "cafe\u{301}", "cafe"]
        #expect(ids[0] == ids[1])
        let words = ids.map { Word(id: $0, length: $0.utf8.count) }
        try manager.writeAndWait { store in
            store.access.change(asRows: asRows)
            try store.save(words)
        }
        #expect(try await manager.find(Word.self, ids: ids).map(\.length) == [5, 6, 4])
        #expect(try await manager.find(Word.self, ids: [ids[1]]).map(\.length) == [6])
        for (id, word) in zip(ids, words) { #expect(try await manager.find(Word.self, id: id)?.length == word.length) }
        let spelling = Spelling(id: 1, words: ids.prefix(2).map { Reference(id: $0) }, first: Reference(id: ids[1]))
        try manager.writeAndWait { store in
            store.access.change(asRows: asRows)
            try store.save(spelling)
        }
        let found = try await manager.find(Spelling.self, id: 1)
        #expect(found?.words.map { $0.id.utf8.count } == [5, 6] && found?.first?.id.utf8.count == 6)
        var longer = words
        for index in longer.indices { longer[index].length += 10 }
        #expect(try await manager.importModels(longer).updated == 3)
        let deleted = try await manager.write { try $0.delete(Word.self, ids: Array(ids.prefix(2))) }
        #expect(deleted == 2)
        #expect(try await manager.fetch(Word.self).map(\.length) == [14])
    }

    @Test("are two rows of a list, which is one of them or the other")
    func listed() {
        let (composed, decomposed) = (Word(id: "caf\u{E9}", length: 5), Word(id: "cafe\u{301}", length: 6))
        let change = ListDifference(from: [composed], to: [decomposed])
        #expect(change.removals == [0] && change.insertions.map(\.index) == [0] && change.updates.isEmpty)
        let more = ListDifference(from: [composed], to: [decomposed, composed])
        #expect(more.removals.isEmpty && more.insertions.map(\.index) == [0] && more.updates.isEmpty)
        let list = SectionedList([composed, decomposed])
        #expect(list.indexPath(of: composed.id) == [0, 0] && list.indexPath(of: decomposed.id) == [0, 1])
        let changes = list.changes(from: SectionedList([composed]))
        #expect(changes.insertions == [[0, 1]] && changes.moves.isEmpty && changes.updates.isEmpty)
        #expect(SectionedList([decomposed]).changes(from: list).removals == [[0, 0]])
        let turned = SectionedList([decomposed, composed]).changes(from: list)
        #expect(turned.moves.count == 1 && turned.insertions.isEmpty && turned.updates.isEmpty)
    }

    @Test("are found where only one of two texts that Swift calls equal is stored")
    func oneText() async throws {
        let manager = PersistenceManager(models: Word.self, store: .file(folder.file("words.sqlite")))
        let ids = ["caf\u{E9}", "cafe\u{301}"]
        try await manager.save(Word(id: ids[1], length: 6))
        #expect(try await manager.find(Word.self, ids: ids).map(\.length) == [6])
        #expect(try await manager.find(Word.self, ids: ids.reversed()).map(\.length) == [6])
        #expect(try await manager.delete(Word.self, ids: ids) == 1)
        #expect(try await manager.count(Word.self) == 0)
    }

    @Test("are the same numbers in single and in double precision", arguments: [true, false])
    func singlePrecision(asRows: Bool) throws {
        let height = Height(id: 2, name: "h")
        try manager.writeAndWait { try $0.save(height) }
        let numbers: [Float] = [0.1, 1, 2.3]
        let renamed = numbers.map { Weight(id: $0, name: "\($0)", height: Reference(height)) }
        let found = try saved(
            numbers.map { Weight(id: $0, name: "new", height: Reference(height)) }, renamed, asRows: asRows)
        #expect(found.sorted { $0.id < $1.id } == renamed)
        try manager.writeAndWait { store in
            store.access.change(asRows: asRows)
            try store.update(renamed)
        }
    }

    @Test("lead to the models that have them", arguments: [true, false])
    func references(asRows: Bool) throws {
        let moments = [1.25, 1.5].map { Moment(id: Date(timeIntervalSinceReferenceDate: $0), name: "m") }
        let fingerprints = [Data([1, 2]), Data([2, 1])].map { Fingerprint(id: $0, name: "f") }
        let heights = [1, 1.5, 2].map { Height(id: $0, name: "h") }
        try manager.writeAndWait { store in
            store.access.change(asRows: asRows)
            try store.save(moments)
            try store.save(fingerprints)
            try store.save(heights)
        }
        let findings = Findings(
            id: 1, moment: Reference(moments[1]), fingerprint: Reference(fingerprints[0]),
            heights: [Reference(heights[1]), Reference(heights[0])])
        #expect(try saved([findings], [findings], asRows: asRows) == [findings])
        let error = #expect(throws: PersistenceError.self) {
            try saved([Findings(id: 2, heights: [Reference(id: 1), Reference(id: 3)])], [], asRows: asRows)
        }
        #expect(error?.code == .missingReference && error?.entity == "Findings" && error?.property == "heights")
    }

    @Test("are found, whole numbers that are kept as fractions among them")
    func wholeNumbers() async throws {
        let heights = [1, 1.5, .infinity].map { Height(id: $0, name: "\($0)") }
        let prices = [Decimal(3), Decimal(sign: .plus, exponent: -1, significand: 5)].map {
            Price(id: $0, heights: heights)
        }
        try await manager.save(prices)
        #expect(try await found(heights) == heights)
        #expect(try await found(prices) == prices)
        for price in prices { try await manager.delete(Price.self, id: price.id) }
        for height in heights { try await manager.delete(Height.self, id: height.id) }
        #expect(try await manager.count(Price.self) == 0)
        #expect(try await manager.count(Height.self) == 0)
    }

    /// Models that are found one by one; none if they are not found as well all at once, alone and in a block.
    private func found<Model: CoreModel & Equatable>(_ models: [Model]) async throws -> [Model] {
        let ids = models.map(\.id)
        let together = try await manager.find(Model.self, ids: ids)
        let inBlock = try await manager.read { try $0.find(Model.self, ids: ids) }
        var found: [Model] = []
        for id in ids where try await manager.exists(Model.self, id: id) {
            if let model = try await manager.find(Model.self, id: id) { found.append(model) }
        }
        return together == found && inBlock == found ? found : []
    }
}
