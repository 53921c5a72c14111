import Foundation
import Pippin
import PippinPostgres

/// Texts on a server that are searched, with those of related models, and a program that saves them without end.
package enum Tales {
    package struct Teller: CoreModel, Equatable {
        package let uid: Int
        package var name: String
    }

    package struct Tale: CoreModel, Equatable {
        package let uid: Int
        package var title: String
        package var price = 0.0
        package var teller: Teller?

        package static var schema: Schema<Tale> {
            Schema(.searchable(\.title), .searchable(\.teller?.name), .defaultValue(\.price, 0))
        }
    }

    /// The same of an earlier version.
    package enum Former {
        package struct Tale: CoreModel {
            package let uid: Int
            package var title: String
            package var teller: Teller?

            package static var schema: Schema<Tale> { Schema(.searchable(\.title), .searchable(\.teller?.name)) }
        }
    }

    package static let words = ["whale", "sea", "white", "boat", "鯨", "кит", "élève", "island"]

    package static func manager(at uri: String) -> PersistenceManager {
        PersistenceManager(models: Tale.self, Teller.self, store: .postgres(uri))
    }

    /// Fills a new store of the earlier version, and searches it.
    package static func found(_ count: Int, at uri: String) async throws {
        let manager = PersistenceManager(models: Former.Tale.self, Teller.self, store: .postgres(uri))
        let tellers = words.enumerated().map { Teller(uid: $0, name: "\($1) teller") }
        try await manager.save(
            (0..<count).map {
                Former.Tale(uid: $0, title: "\(words[$0 % 5]) \(words[$0 % 7])", teller: tellers[$0 % tellers.count])
            })
        _ = try await manager.fetch(Former.Tale.self, searching: "whale")
        await manager.close()
    }

    /// Searches, which makes a missing index, and then saves, changes and deletes at random.
    package static func work(at uri: String, seed: Int, said: (String) -> Void) async throws -> Never {
        var state = UInt64(truncatingIfNeeded: seed) &+ 1
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        func title() -> String { (0..<3).map { _ in words[random(words.count)] }.joined(separator: " ") }
        said("begun")
        let manager = manager(at: uri)
        _ = try await manager.fetch(Tale.self, searching: "whale")
        while true {
            let (kind, start, text) = (random(7), random(400), title())
            let tales = (start..<start + 1 + random(20)).map { uid in
                Tale(uid: uid, title: title(), teller: random(3) == 0 ? nil : Teller(uid: random(8), name: text))
            }
            try await manager.write { store in
                switch kind {
                case 0: try store.delete(Tale.self, where: \.uid == start)
                case 1:
                    try store.update(Tale.self, where: \.uid >= start && \.uid < start + 10) {
                        $0.set(\.title, to: text)
                    }
                case 2: try store.update(Tale.self, where: \.uid >= start) { $0.set(\.price, to: 1) }
                case 3: try store.save(Teller(uid: start % 8, name: text))
                case 4: try store.delete(Teller.self, where: \.uid == start % 8)
                default: for tale in tales { try store.save(tale) }
                }
            }
            said("saved")
        }
    }
}
