import Foundation
import SwiftData
import TestSupport
import Testing

@Model
final class Team {
    var name: String
    @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Player.team) var players: [Player] = []
    /// One way: the ground knows no team.
    var ground: Ground?

    init(_ name: String) { self.name = name }
}

@Model
final class Player {
    var name: String
    /// Declared at the side of the many.
    @Relationship(deleteRule: .cascade) var team: Team?

    init(_ name: String) { self.name = name }
}

@Model
final class Ground {
    var city: String

    init(_ city: String) { self.city = city }
}

@Model
final class Box {
    var label: String
    @Relationship(deleteRule: .nullify, inverse: \Thing.box) var things: [Thing] = []

    init(_ label: String) { self.label = label }
}

@Model
final class Thing {
    var label: String
    var box: Box

    init(_ label: String, in box: Box) {
        self.label = label
        self.box = box
    }
}

@Model
final class Shelf {
    #Unique<Shelf>([\.rows])
    var rows: [ShelfRow] = []

    init() {}
}

@Model
final class ShelfRow {
    var shelf: Shelf?

    init() {}
}

/// Rules of relationships and of schemas, as they were observed of Apple's SwiftData.
@Suite("A container of models")
struct ObservedRuleTests {
    @Test("refuses too few and too many related models at the save")
    func counts() throws {
        let library = try Library(Team.self)
        let team = Team("a")
        library.context.insert(team)
        #expect(throws: SwiftDataError.modelValidationFailure) { try library.context.save() }
        team.players = [Player("1"), Player("2"), Player("3")]
        #expect(throws: SwiftDataError.modelValidationFailure) { try library.context.save() }
        team.players.removeLast()
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Team>()) == 1)
    }

    @Test("takes the one along where a cascade is at the side of the many")
    func cascadeUpwards() throws {
        let library = try Library(Team.self)
        let team = Team("a")
        let players = [Player("1"), Player("2")]
        team.players = players
        library.context.insert(team)
        try library.context.save()
        library.context.delete(players[0])
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Team>()) == 0)
        #expect(players[1].team == nil)
    }

    @Test("inserts the end of a one-way relationship, and shows none after its deletion")
    func oneWay() throws {
        let library = try Library(Team.self)
        let team = Team("a")
        team.players = [Player("1")]
        team.ground = Ground("Bath")
        library.context.insert(team)
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Ground>()) == 1)
        library.context.delete(try #require(team.ground))
        try library.context.save()
        #expect(team.ground == nil)
        let other = try #require(try library.fetched(by: SortDescriptor(\Team.name)).first)
        #expect(other.ground == nil)
        other.name = "b"
        try other.modelContext?.save()
    }

    @Test("refuses a deletion in the store that a mandatory inverse forbids")
    func mandatoryInverse() throws {
        let library = try Library(Box.self)
        library.context.insert(Thing("a", in: Box("b")))
        try library.context.save()
        #expect(throws: (any Error).self) { try library.context.delete(model: Box.self) }
        #expect(try library.context.fetchCount(FetchDescriptor<Box>()) == 1)
        try library.context.delete(model: Thing.self)
        try library.context.delete(model: Box.self)
        #expect(try library.context.fetchCount(FetchDescriptor<Box>()) == 0)
    }

    @Test("refuses unique arrays of models, with the property")
    func uniqueArray() {
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) { try Library(Shelf.self) }
        #expect(error?.description.contains("Shelf") == true)
        #expect(error?.description.contains("rows") == true)
    }

    @Test("has related classes along, and subclasses only where they are named")
    func subclasses() throws {
        let library = try Library(Trip.self)
        library.context.insert(Cruise(ship: "s"))
        let error = #expect(throws: (any Error).self) { try library.context.save() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("Cruise"))
    }

    @Test("fetches only classes that it has")
    func unknownClass() throws {
        let library = try Library(Item.self)
        #expect(throws: SwiftDataError.unknownSchema) { try library.context.fetch(FetchDescriptor<Book>()) }
    }
}
