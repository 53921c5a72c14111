import Foundation
import SwiftData

/// A travel planner: models in an enumeration's extension, values of many kinds.
enum Planner {}

extension Planner {
    enum Status: String, Codable, CaseIterable { case idea, booked, done }

    enum Transport: Codable, Equatable {
        case walk
        case train(number: String, seat: Int?)
        case flight(String)
    }

    struct Coordinate: Codable, Hashable {
        var latitude: Double
        var longitude: Double
    }

    struct Stop: Codable, Equatable, Identifiable {
        var id: UUID
        var name: String
        var place: Coordinate?
    }

    @Model
    final class Trip {
        #Unique<Trip>([\.name, \.start])
        #Index<Trip>([\.start], [\.name, \.start])

        var id: UUID = UUID()
        var name: String
        var start: Date
        var end: Date?
        var status: Status = Status.idea
        var transport: Transport?
        var place: Coordinate?
        var stops: [Stop] = []
        var notes: [String: String] = [:]
        var tags: Set<String> = []
        var budget: Decimal = Decimal(0)
        var link: URL?
        @Attribute(.externalStorage) var picture: Data?
        @Attribute(.preserveValueOnDeletion) var code: String = ""
        @Transient var isSelected = false
        @Relationship(deleteRule: .cascade, inverse: \Planner.Leg.trip) var legs: [Planner.Leg] = []
        @Relationship(deleteRule: .nullify) var travellers: [Planner.Person]?

        init(name: String, start: Date, end: Date? = nil) {
            self.name = name
            self.start = start
            self.end = end
        }

        var duration: TimeInterval? { end.map { $0.timeIntervalSince(start) } }
    }

    @Model
    final class Leg {
        var title: String
        var order: Int
        var isDone: Bool = false
        var trip: Planner.Trip?

        init(title: String, order: Int) {
            self.title = title
            self.order = order
        }
    }

    @Model
    final class Person {
        @Attribute(.unique) var email: String
        var name: String
        @Relationship(inverse: \Planner.Trip.travellers) var trips: [Planner.Trip] = []

        init(email: String, name: String) {
            self.email = email
            self.name = name
        }
    }
}
