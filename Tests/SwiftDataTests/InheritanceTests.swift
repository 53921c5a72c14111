import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

@Model
class Trip {
    var name: String
    var days = 1
    var traveller: Traveller?

    init(name: String, traveller: Traveller? = nil) {
        self.name = name
        self.traveller = traveller
    }
}

@Model
class BusinessTrip: Trip {
    var perdiem: Double = 0.0

    init(name: String, perdiem: Double, traveller: Traveller? = nil) {
        self.perdiem = perdiem
        super.init(name: name, traveller: traveller)
    }
}

@Model
final class PersonalTrip: Trip {
    var reason: String

    init(name: String, reason: String) {
        self.reason = reason
        super.init(name: name)
        days = 14
    }
}

/// A trip that no container has.
@Model
final class Cruise: Trip {
    var ship: String

    init(ship: String) {
        self.ship = ship
        super.init(name: ship)
    }
}

/// A third level.
@Model
final class ConferenceTrip: BusinessTrip {
    var talk: String

    init(name: String, talk: String) {
        self.talk = talk
        super.init(name: name, perdiem: 30)
    }
}

@Model
final class Traveller {
    var name: String
    var trips: [Trip] = []

    init(name: String) { self.name = name }
}

@Suite("A model of a subclass")
struct InheritanceTests {
    @Test("may be the superclass of another one, at whose values all three levels have a part")
    func thirdLevel() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: ConferenceTrip.self, PersonalTrip.self, configurations: configuration)
        let context = ModelContext(container)
        let trip = ConferenceTrip(name: "Lisbon", talk: "Stores")
        trip.days = 3
        context.insert(trip)
        context.insert(PersonalTrip(name: "Porto", reason: "Rest"))
        try context.save()
        let read = try ModelContext(container).fetch(FetchDescriptor<BusinessTrip>())
        let found = try #require(read.first as? ConferenceTrip)
        #expect(read.count == 1)
        #expect((found.name, found.days) == ("Lisbon", 3))
        #expect((found.perdiem, found.talk) == (30, "Stores"))
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) == 2)
    }

    private func library() throws -> Library { try Library(Trip.self, BusinessTrip.self, PersonalTrip.self) }

    @Test("has its own values and inherited ones, before and after it is inserted")
    func values() throws {
        let library = try library()
        let trip = BusinessTrip(name: "Rome", perdiem: 30)
        #expect((trip.name, trip.perdiem, trip.days) == ("Rome", 30, 1))
        library.context.insert(trip)
        library.context.insert(PersonalTrip(name: "Paris", reason: "spring"))
        #expect((trip.name, trip.perdiem, trip.days) == ("Rome", 30, 1))
        try library.context.save()
        let business = try library.fetched(by: SortDescriptor(\BusinessTrip.name))
        #expect(business.map(\.name) == ["Rome"])
        #expect(business.map(\.perdiem) == [30])
        let personal = try library.fetched(by: SortDescriptor(\PersonalTrip.reason))
        #expect(personal.map(\.reason) == ["spring"])
        #expect(personal.map(\.days) == [14])
    }

    @Test("is found by a fetch of its superclass, as an object of its own class")
    func polymorphic() throws {
        let library = try library()
        library.context.insert(Trip(name: "a"))
        library.context.insert(BusinessTrip(name: "b", perdiem: 1))
        library.context.insert(PersonalTrip(name: "c", reason: "fun"))
        try library.context.save()
        let all = try library.fetched(by: SortDescriptor(\Trip.name))
        #expect(all.map { "\(type(of: $0))" } == ["Trip", "BusinessTrip", "PersonalTrip"])
        #expect((all[1] as? BusinessTrip)?.perdiem == 1)
    }

    @Test("is related as one of its superclass's, also where its initializer inserts it")
    func related() throws {
        let library = try library()
        let traveller = Traveller(name: "Ada")
        let first = BusinessTrip(name: "a", perdiem: 1, traveller: traveller)
        #expect(first.traveller == traveller)
        #expect(traveller.trips.count == 1)
        library.context.insert(traveller)
        try library.context.save()
        let second = BusinessTrip(name: "b", perdiem: 2, traveller: traveller)
        #expect(second.name == "b")
        try library.context.save()
        let found = try #require(try library.fetched(by: SortDescriptor(\Traveller.name)).first)
        #expect(found.trips.map(\.name) == ["a", "b"])
        #expect(found.trips.compactMap { ($0 as? BusinessTrip)?.perdiem } == [1, 2])
        #expect(try library.context.fetchCount(FetchDescriptor<Trip>()) == 2)
    }

    @Test("is deleted with its superclass's models, unless subclasses are left out")
    func batch() throws {
        let library = try library()
        library.context.insert(Trip(name: "a"))
        library.context.insert(BusinessTrip(name: "b", perdiem: 1))
        try library.context.save()
        try library.context.delete(model: Trip.self, includeSubclasses: false)
        #expect(try library.fetched(by: SortDescriptor(\Trip.name)).map(\.name) == ["b"])
        try library.context.delete(model: Trip.self)
        #expect(try library.context.fetchCount(FetchDescriptor<Trip>()) == 0)
    }

    @Test("is told from others in a predicate, by is and as?")
    func predicates() throws {
        let library = try library()
        let traveller = Traveller(name: "Ada")
        library.context.insert(Trip(name: "a", traveller: traveller))
        library.context.insert(BusinessTrip(name: "b", perdiem: 1, traveller: traveller))
        library.context.insert(BusinessTrip(name: "c", perdiem: 5))
        library.context.insert(PersonalTrip(name: "d", reason: "fun"))
        try library.context.save()
        func names(_ predicate: Predicate<Trip>) throws -> String {
            let found = try library.context.fetch(
                FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)]))
            let all = try library.context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
            #expect(try all.filter { try predicate.evaluate($0) }.map(\.name) == found.map(\.name))
            return found.map(\.name).joined()
        }
        #expect(try names(#Predicate { $0 is BusinessTrip }) == "bc")
        #expect(try names(#Predicate { !($0 is BusinessTrip) }) == "ad")
        #expect(try names(#Predicate { $0 is BusinessTrip || $0 is PersonalTrip }) == "bcd")
        #expect(try names(#Predicate { ($0 as? BusinessTrip)?.perdiem == 5 }) == "c")
        #expect(
            try names(#Predicate { if let trip = $0 as? BusinessTrip { trip.perdiem < 3 } else { false } }) == "b")
        #expect(try names(#Predicate { ($0 as? PersonalTrip)?.reason == "fun" && $0.days == 14 }) == "d")
        let travellers = try library.context.fetch(
            FetchDescriptor<Traveller>(predicate: #Predicate { $0.trips.contains { $0 is BusinessTrip } }))
        #expect(travellers.map(\.name) == ["Ada"])
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try library.context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0 is Cruise }))
        }
    }

    @Test("tells observers of its own properties and of inherited ones")
    func observed() {
        let trip = BusinessTrip(name: "a", perdiem: 1)
        let changes = Mutex(0)
        withObservationTracking {
            _ = (trip.name, trip.perdiem)
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        trip.perdiem = 2
        #expect(changes.withLock { $0 } == 1)
        withObservationTracking {
            _ = (trip.name, trip.perdiem)
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        trip.name = "b"
        #expect(changes.withLock { $0 } == 2)
    }
}
