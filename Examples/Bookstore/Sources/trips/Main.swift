import Foundation
import SwiftData

/// `trips STORE`: imports trips beside the main actor, whose list follows; run again, it begins with what is there.
@main
@MainActor
struct Main {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("Usage: trips STORE")
            exit(64)
        }
        let store = ModelConfiguration(url: URL(fileURLWithPath: CommandLine.arguments[1]))
        let container = try ModelContainer(for: Trip.self, BusinessTrip.self, configurations: store)
        let list = try ResultsObserver<Trip, Never>(
            sortBy: [SortDescriptor(\.start), SortDescriptor(\.name)], modelContext: container.mainContext)
        print("The store has \(list.results.count) trips.")

        let importer = TripImporter(modelContainer: container)
        let year = 2020 + list.results.count
        let total = try await importer.add(
            ["Rome \(year),7,", "Berlin \(year),3,45", "Oslo \(year),2,60.5"], for: "Ada")
        while list.results.count < total { try await Task.sleep(for: .milliseconds(10)) }
        print("After the import the list has:")
        for trip in list.results {
            let perdiem = (trip as? BusinessTrip).map { ", \($0.perdiem) a day" } ?? ""
            print("  \(trip.name): \(trip.days) days\(perdiem), \(trip.traveller?.name ?? "nobody")")
        }

        let paid = FetchDescriptor<Trip>(
            predicate: #Predicate { if let trip = $0 as? BusinessTrip { trip.perdiem > 50 } else { false } })
        print("Paid with more than 50 a day: \(try container.mainContext.fetchCount(paid)).")
    }
}
