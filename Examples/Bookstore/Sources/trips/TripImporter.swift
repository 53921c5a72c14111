import Foundation
import SwiftData

/// Brings trips into the store, with a context of its own.
@ModelActor
actor TripImporter {
    /// Adds a trip for each line, `name,days,perdiem`; those without a per diem are private.
    ///
    /// - Returns: how many trips the store has then.
    func add(_ lines: [String], for name: String) throws -> Int {
        let known = FetchDescriptor<Traveller>(predicate: #Predicate { $0.name == name })
        let traveller = try modelContext.fetch(known).first ?? Traveller(name: name)
        modelContext.insert(traveller)
        for (number, line) in lines.enumerated() {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 3, let days = Int(fields[1]) else { throw CocoaError(.formatting) }
            let start = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400 * 30)
            if let perdiem = Double(fields[2]) {
                modelContext.insert(
                    BusinessTrip(
                        name: fields[0], start: start, days: days, perdiem: perdiem, traveller: traveller))
            } else {
                modelContext.insert(Trip(name: fields[0], start: start, days: days, traveller: traveller))
            }
        }
        try modelContext.save()
        return try modelContext.fetchCount(FetchDescriptor<Trip>())
    }
}
