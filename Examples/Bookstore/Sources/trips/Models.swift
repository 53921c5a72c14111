import Foundation
import SwiftData

/// A journey of somebody.
@Model
class Trip {
    #Index<Trip>([\.start])

    @Attribute(.unique) var name: String
    var start: Date
    var days: Int
    var traveller: Traveller?

    init(name: String, start: Date, days: Int, traveller: Traveller? = nil) {
        self.name = name
        self.start = start
        self.days = days
        self.traveller = traveller
    }
}

/// A journey that somebody else pays.
@Model
final class BusinessTrip: Trip {
    var perdiem: Double

    init(name: String, start: Date, days: Int, perdiem: Double, traveller: Traveller? = nil) {
        self.perdiem = perdiem
        super.init(name: name, start: start, days: days, traveller: traveller)
    }
}

@Model
final class Traveller {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Trip.traveller) var trips: [Trip] = []

    init(name: String) { self.name = name }
}
