import Foundation
import SwiftData
import TestSupport
import Testing

@Model
final class Country {
    var id = UUID()
    @Attribute(.unique) var code: String
    @Relationship(deleteRule: .cascade, inverse: \Town.country) var towns: [Town] = []
    @Relationship(deleteRule: .deny, inverse: \Law.country) var laws: [Law] = []

    init(_ code: String) { self.code = code }
}

@Model
final class Town {
    var name: String
    var country: Country?
    @Relationship(deleteRule: .cascade, inverse: \Street.town) var streets: [Street] = []

    init(_ name: String) { self.name = name }
}

@Model
final class Street {
    var name: String
    var town: Town?

    init(_ name: String) { self.name = name }
}

@Model
final class Law {
    var title: String
    var country: Country?

    init(_ title: String) { self.title = title }
}

/// What programs rely on, as it was observed of Apple's SwiftData.
@Suite("A graph of models")
struct ObservedBehaviourTests {
    private func library() throws -> Library { try Library(Country.self) }

    @Test("can be inserted from its root, from its leaves, and again")
    func insertion() throws {
        let library = try library()
        func graph(_ code: String) -> (Country, Town, Street) {
            let (country, town, street) = (Country(code), Town(code), Street(code))
            town.country = country
            town.streets.append(street)
            return (country, town, street)
        }
        let first = graph("a")
        library.context.insert(first.0)
        let second = graph("b")
        library.context.insert(second.2)
        let third = graph("c")
        library.context.insert(third.1)
        library.context.insert(third.0)
        library.context.insert(third.2)
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Country>()) == 3)
        #expect(try library.context.fetchCount(FetchDescriptor<Street>()) == 3)
        #expect(second.0.modelContext == library.context)
    }

    @Test("is deleted down all levels of cascades")
    func cascade() throws {
        let library = try library()
        let (country, town) = (Country("a"), Town("t"))
        country.towns.append(town)
        town.streets = [Street("s1"), Street("s2")]
        library.context.insert(country)
        library.context.insert(Street("alone"))
        try library.context.save()
        library.context.delete(country)
        try library.context.save()
        #expect(try library.context.fetchCount(FetchDescriptor<Town>()) == 0)
        #expect(try library.fetched(by: SortDescriptor(\Street.name)).map(\.name) == ["alone"])
    }

    @Test("stays where a rule denies the deletion, which the save says")
    func deny() throws {
        let library = try library()
        let country = Country("a")
        country.laws.append(Law("first"))
        library.context.insert(country)
        try library.context.save()
        library.context.delete(country)
        #expect(throws: SwiftDataError.modelValidationFailure) { try library.context.save() }
        library.context.rollback()
        #expect(country.laws.map(\.title) == ["first"])
        #expect(!country.isDeleted)
    }

    @Test("has initial values of its own, and one of the schema that stays the same")
    func defaults() throws {
        let (first, second) = (Country("a"), Country("b"))
        #expect(first.id != second.id)
        let attribute = Schema([Country.self]).entity(for: Country.self)?.attributesByName["id"]
        let again = Schema([Country.self]).entity(for: Country.self)?.attributesByName["id"]
        #expect(attribute?.defaultValue as? UUID != nil)
        #expect(attribute?.defaultValue as? UUID == again?.defaultValue as? UUID)
    }

    @Test("keeps what the last of two contexts has saved")
    func lastWriter() throws {
        let library = try library()
        library.context.insert(Town("first"))
        try library.context.save()
        let (one, other) = (ModelContext(library.container), ModelContext(library.container))
        let here = try #require(try one.fetch(FetchDescriptor<Town>()).first)
        let there = try #require(try other.fetch(FetchDescriptor<Town>()).first)
        here.name = "one"
        there.name = "other"
        try one.save()
        try other.save()
        #expect(try library.fetched(by: SortDescriptor(\Town.name)).map(\.name) == ["other"])
    }

    @Test("keeps the relationships of a model that a new one with its unique value updates")
    func upsert() throws {
        let library = try library()
        let first = Country("a")
        first.towns.append(Town("old"))
        library.context.insert(first)
        try library.context.save()
        let second = Country("a")
        second.towns.append(Town("new"))
        library.context.insert(second)
        try library.context.save()
        let found = try library.fetched(by: SortDescriptor(\Country.code))
        #expect(found.count == 1)
        #expect(found[0].towns.map(\.name).contains("new"))
        #expect(try library.context.fetchCount(FetchDescriptor<Town>()) == 2)
    }

    @Test("is not equal to the same rows in another context")
    func identity() throws {
        let library = try library()
        let town = Town("a")
        library.context.insert(town)
        try library.context.save()
        let other = try #require(try library.fetched(by: SortDescriptor(\Town.name)).first)
        #expect(town != other)
        #expect(town.persistentModelID == other.persistentModelID)
        #expect(town.hashValue == town.hashValue)
    }
}
