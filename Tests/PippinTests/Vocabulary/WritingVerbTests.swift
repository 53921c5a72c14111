import Pippin
import TestSupport
import Testing

@Suite("What is done to models")
struct WritingVerbTests {
    private let bookcase: Bookcase
    private var manager: PersistenceManager { bookcase.manager }

    init() throws { bookcase = try Bookcase() }

    private func prices() throws -> String {
        try bookcase.strings("SELECT ZID || '=' || coalesce(ZPRICE, '-') FROM ZEDITION ORDER BY ZID")
            .joined(separator: " ")
    }

    @Test("insert takes a model that is not there yet, and no other")
    func insert() async throws {
        try await manager.insert(Edition(id: "new", title: "New"))
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.insert([Edition(id: "newer", title: "Newer"), Edition(id: "emma", title: "Emma")])
        }
        #expect(error?.code == .alreadyStored && error?.entity == "Edition" && error?.identifier == "emma")
        #expect(
            try bookcase.strings("SELECT ZID FROM ZEDITION ORDER BY ZID") == ["emma", "new", "persuasion", "whale"])
    }

    @Test("insert refuses two models with one identifier")
    func repeated() async throws {
        await #expect {
            try await manager.insert([Edition(id: "x", title: "A"), Edition(id: "x", title: "B")])
        } throws: {
            ($0 as? PersistenceError)?.code == .alreadyStored
        }
        #expect(try bookcase.number("SELECT count(*) FROM ZEDITION") == 3)
    }

    @Test("update changes a model that is there, and no other")
    func update() async throws {
        var emma = Bookcase.emma
        emma.price = 12
        try await manager.update(emma)
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.update(Edition(id: "none", title: "None"))
        }
        #expect(error?.code == .notFound && error?.identifier == "none")
        #expect(try prices() == "emma=12 persuasion=8 whale=-")
    }

    @Test("update sets properties where a filter holds, by itself in one statement, in a block with all else")
    func updateWhere() async throws {
        let count = try await manager.update(Edition.self, where: \.author?.name == "Jane Austen") {
            $0.set(\.price, to: 5)
            $0.set(\.binding, to: .cloth)
        }
        #expect(count == 2)
        #expect(try prices() == "emma=5 persuasion=5 whale=-")
        #expect(try bookcase.strings("SELECT DISTINCT ZBINDING FROM ZEDITION WHERE ZPRICE = 5") == ["cloth"])
        struct Change: Error {}
        await #expect(throws: Change.self) {
            try await manager.write { store in
                try store.update(Edition.self, where: .all) { $0.set(\.price, to: 1) }
                #expect(try store.count(Edition.self, where: \.price == 1) == 3)
                throw Change()
            }
        }
        #expect(try prices() == "emma=5 persuasion=5 whale=-")
    }

    @Test("update may set a property to nothing, or to another model")
    func updateOptional() async throws {
        try await manager.update(Edition.self, where: \.id == "emma") {
            $0.set(\.price, to: nil)
            $0.set(\.author, to: Bookcase.melville)
        }
        let emma = try await manager.find(Edition.self, id: "emma")
        #expect(emma?.price == nil && emma?.author == Bookcase.melville && emma?.reviews == Bookcase.emma.reviews)
    }

    private struct Present: CoreModel, Equatable {
        let id: Int
        var card: Card?

        static var schema: Schema<Present> { Schema(.owns(\.card)) }
    }

    private struct Card: CoreModel, Equatable {
        let id: Int
    }

    @Test("update deletes a model that leaves the one that owns it", arguments: [false, true])
    func updateOwned(inBlock: Bool) async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Present.self, store: .file(folder.file("presents.sqlite")))
        try await manager.save([Present(id: 1, card: Card(id: 1)), Present(id: 2, card: Card(id: 2)), Present(id: 3)])
        if inBlock {
            try await manager.write { store in
                try store.update(Present.self, where: \.id == 1) { $0.set(\.card, to: nil) }
                try store.update(Present.self, where: \.id == 2) { $0.set(\.card, to: Card(id: 2)) }
            }
        } else {
            try await manager.update(Present.self, where: \.id == 1) { $0.set(\.card, to: nil) }
            try await manager.update(Present.self, where: \.id == 2) { $0.set(\.card, to: Card(id: 2)) }
        }
        #expect(try await manager.fetch(Card.self) == [Card(id: 2)])
        #expect(try await manager.find(Present.self, id: 2)?.card == Card(id: 2))
    }

    @Test("update refuses to give one model to several that own it")
    func updateSharing() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Present.self, store: .file(folder.file("presents.sqlite")))
        let presents = [Present(id: 1, card: Card(id: 1)), Present(id: 2, card: Card(id: 2)), Present(id: 3)]
        try await manager.save(presents)
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.update(Present.self, where: .all) { $0.set(\.card, to: Card(id: 1)) }
        }
        #expect(error?.code == .unwritable && error?.property == "card")
        #expect(try await manager.fetch(Present.self, sortedBy: .ascending(\.id)) == presents)
        #expect(try await manager.count(Card.self) == 2)
    }

    @Test("update refuses lists of models, which a filter cannot fill")
    func updateRefused() async throws {
        await #expect {
            try await manager.update(Edition.self, where: .all) { $0.set(\.reviews, to: []) }
        } throws: { error in
            let error = error as? PersistenceError
            return error?.code == .notSettable && error?.property == "reviews"
        }
    }

    @Test("replaceAll leaves these models and no others")
    func replaceAll() async throws {
        try await manager.replaceAll(with: [Bookcase.whale])
        #expect(try await manager.fetch(Edition.self) == [Bookcase.whale])
        try await manager.replaceAll(with: [Edition]())
        #expect(try bookcase.number("SELECT count(*) FROM ZEDITION") == 0)
        #expect(try bookcase.number("SELECT count(*) FROM ZCRITIQUE") == 0, "what belonged to them is gone, too")
    }

    @Test("delete says whether a model was there, and how many of several")
    func delete() async throws {
        #expect(try await manager.delete(Bookcase.emma))
        #expect(try await !manager.delete(Edition.self, id: "emma"))
        #expect(try await manager.delete(Edition.self, ids: ["emma", "whale"]) == 1)
        #expect(try await manager.deleteAll(Edition.self) == 1)
    }

    @Test("a block offers the same, and its own changes count in what it asks")
    func block() async throws {
        let seen = try await manager.write { store in
            try store.insert(Edition(id: "sanditon", title: "Sanditon", price: 100, author: Bookcase.austen))
            try store.delete(Edition.self, where: \.title == "Emma")
            return (
                count: try store.count(Edition.self), sum: try store.sum(Edition.self, \.price),
                greatest: try store.max(Edition.self, \.price), least: try store.min(Edition.self, \.pages),
                average: try store.average(Edition.self, \.pages),
                titles: try store.distinct(Edition.self, \.title),
                byAuthor: try store.count(Edition.self, by: \.author?.name),
                worth: try store.sum(Edition.self, \.price, by: \.author?.name)
            )
        }
        #expect(seen.count == 3 && seen.sum == 108 && seen.greatest == 100 && seen.least == 100)
        #expect(seen.average.map { ($0 * 10).rounded() } == 3167)
        #expect(seen.titles == ["Moby-Dick", "Persuasion", "Sanditon"])
        #expect(seen.byAuthor == ["Jane Austen": 2, "Herman Melville": 1])
        #expect(seen.worth == ["Jane Austen": 108])
    }
}

@CoreModel
private struct Ticket: Equatable {
    let id: Int
    var text: String
}

@Suite("Identifiers from the store")
struct GivenIdentifierTests {
    private let folder: TestFolder
    private let manager: PersistenceManager

    init() throws {
        folder = try TestFolder()
        manager = PersistenceManager(models: Ticket.self, store: .file(folder.store))
    }

    @Test("are new numbers, also within a block, where the block sees its models")
    func numbers() async throws {
        let first = try await manager.insert { Ticket(id: $0, text: "A") }
        let others = try await manager.write { store in
            let second = try store.insert { Ticket(id: $0, text: "B") }
            let third = try store.insert { Ticket(id: $0, text: "C") }
            #expect(try store.find(Ticket.self, id: third.id) == third)
            return [second, third]
        }
        let stored = try await manager.fetch(Ticket.self, sortedBy: \.id)
        #expect(stored == [first] + others)
        #expect(Set(stored.map(\.id)).count == 3 && stored.map(\.text) == ["A", "B", "C"])
    }

    @Test("are not given out again after a deletion, nor where a model has the number by its own choice")
    func taken() async throws {
        let first = try await manager.insert { Ticket(id: $0, text: "A") }
        try await manager.delete(first)
        let second = try await manager.insert { Ticket(id: $0, text: "B") }
        #expect(second.id > first.id)
        try await manager.save((1...50).map { Ticket(id: second.id + $0, text: "own") })
        let third = try await manager.insert { Ticket(id: $0, text: "C") }
        #expect(try await manager.find(Ticket.self, id: third.id)?.text == "C")
        #expect(try await manager.count(Ticket.self) == 52)
    }

    @Test("are different for all who insert at once, through several managers")
    func rivals() async throws {
        try await manager.load()
        let managers =
            [manager] + (0..<3).map { _ in PersistenceManager(models: Ticket.self, store: .file(folder.store)) }
        let numbers = try await withThrowingTaskGroup(of: [Int].self) { group in
            for manager in managers {
                group.addTask {
                    var numbers: [Int] = []
                    for _ in 0..<25 { numbers.append(try await manager.insert { Ticket(id: $0, text: "x") }.id) }
                    return numbers
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(numbers).count == 100)
        #expect(try await manager.fetch(Ticket.self).map(\.id).sorted() == numbers.sorted())
    }

    @Test("are not what the closure wants: a model under another number is inserted as it is")
    func others() async throws {
        try await manager.insert { _ in Ticket(id: 7, text: "A") }
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.insert { _ in Ticket(id: 7, text: "B") }
        }
        #expect(error?.code == .alreadyStored)
        #expect(try await manager.fetch(Ticket.self) == [Ticket(id: 7, text: "A")])
    }
}
